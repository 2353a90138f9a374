#include "reports/analysis/foreign_json.h"

#include <nlohmann/json.hpp>

namespace mpsprobe {

using nlohmann::json;

const json& member(const json& object, const char* key) {
  static const json kNull;
  if (!object.is_object()) return kNull;
  const auto at = object.find(key);
  return at == object.end() ? kNull : *at;
}

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : "";
}

std::string dumped(const json& value) {
  return value.dump(-1, ' ', true, json::error_handler_t::replace);
}

}  // namespace mpsprobe
