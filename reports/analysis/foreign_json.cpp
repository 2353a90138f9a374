#include "reports/analysis/foreign_json.h"

#include <nlohmann/json.hpp>

#include "harness/input/json_text.h"

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
  return ascii_json_text(value);
}

}  // namespace mpsprobe
