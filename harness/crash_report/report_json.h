#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace mpsprobe {

/// JSON of a report, within report_limits.h, and reading it without trusting it: every function
/// takes a value of any type, and gives back nothing where it is not what was looked for.
class ReportJson {
 public:
  /// Keeps the order of keys: the texts of a report are told in it.
  using Value = nlohmann::ordered_json;

  /// Where the first JSON object of `text` ends, one past its closing brace; npos where it does not
  /// (yet). Only pairs braces outside of strings: the parser judges the rest.
  static size_t object_end(std::string_view text);

  /// Throws std::runtime_error that says what is wrong.
  static Value parse(std::string_view text);

  /// The member called `key`, or null.
  static const Value& member(const Value& object, const char* key);
  /// A text, or a number as text; otherwise "".
  static std::string text(const Value& value);
  /// A number that is not negative, also where it is written as text.
  static std::optional<uint64_t> number(const Value& value);
  static bool is_true(const Value& value);

  static std::string text(const Value& object, const char* key) {
    return text(member(object, key));
  }
  static std::optional<uint64_t> number(const Value& object, const char* key) {
    return number(member(object, key));
  }
};

}  // namespace mpsprobe
