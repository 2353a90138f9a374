#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace mpsprobe {

/// The text as a JSON string; bytes that are no UTF-8 are replaced.
inline nlohmann::json utf8_json(std::string_view text) {
  using nlohmann::json;
  return json::parse(json(std::string(text)).dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace mpsprobe
