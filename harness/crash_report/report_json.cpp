#include "harness/crash_report/report_json.h"

#include <cmath>
#include <stdexcept>

#include "harness/crash_report/report_limits.h"
#include "harness/crash_report/report_value.h"
#include "harness/input/json_shape.h"
#include "harness/input/json_text.h"

namespace mpsprobe {
namespace {

// In the order of JsonExcess::Kind.
constexpr const char* kExcess[] = {"its values are nested too deep", "it holds too many values",
                                   "an object in it has too many keys"};

}  // namespace

size_t ReportJson::object_end(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || text[begin] != '{') return std::string_view::npos;
  size_t depth = 0;
  bool quoted = false;
  for (size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

ReportJson::Value ReportJson::parse(std::string_view text) {
  // Keys that keep their order are compared one by one.
  constexpr JsonLimits kLimits = {.depth = report_limits::kMostDepth,
                                  .values = report_limits::kMostValues,
                                  .keys = report_limits::kMostKeys,
                                  .repeated_keys = true};
  if (const auto excess = json_excess(text, kLimits)) {
    throw std::runtime_error(kExcess[static_cast<size_t>(excess->kind)]);
  }
  try {
    return Value::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(report_text(json_problem(error)));
  }
}

const ReportJson::Value& ReportJson::member(const Value& object, const char* key) {
  static const Value kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

std::string ReportJson::text(const Value& value) {
  if (value.is_string()) return report_text(value.get_ref<const std::string&>());
  return value.is_number() ? json_text(value) : "";
}

std::optional<uint64_t> ReportJson::number(const Value& value) {
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  if (value.is_string()) return report_number(value.get_ref<const std::string&>());
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (std::isfinite(number) && number >= 0 && number < 9e18) return static_cast<uint64_t>(number);
  }
  return std::nullopt;
}

bool ReportJson::is_true(const Value& value) {
  if (value.is_boolean()) return value.get<bool>();
  return number(value).value_or(0) != 0;
}

}  // namespace mpsprobe
