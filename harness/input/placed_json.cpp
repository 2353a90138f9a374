#include "harness/input/placed_json.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "harness/input/input_error.h"
#include "harness/input/json_shape.h"
#include "harness/input/json_text.h"
#include "harness/input/near_name.h"

namespace mpsprobe {

using nlohmann::json;

namespace {

constexpr size_t kDeepest = 16;

std::string shown(double number) {
  if (number == std::floor(number)) return std::to_string(static_cast<int64_t>(number));
  char text[32];
  std::snprintf(text, sizeof(text), "%g", number);
  return text;
}

}  // namespace

std::string listed(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

void PlacedJson::fail(const std::string& problem, const std::string& remedy) const {
  throw InputError(place_, problem, remedy);
}

void PlacedJson::allow(std::initializer_list<std::string_view> keys) const {
  if (!value_.is_object()) fail("is not an object", std::string(format_));
  for (const auto& [key, value] : value_.items()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      const std::vector<std::string_view> known(keys);
      child(value, key)
          .fail("is not a key that is known here" + did_you_mean(key, known),
                "Known are: " + listed(known));
    }
  }
}

PlacedJson PlacedJson::child(const json& value, const std::string& key) const {
  // A key is anybody's text; keep what a terminal shows of it harmless and short.
  std::string shown;
  for (char c : key.substr(0, 60)) shown += (c >= 0x20 && c < 0x7f) ? c : '?';
  return {value, place_ + (root_ ? ": " : ".") + shown, format_, false};
}

PlacedJson PlacedJson::at(const char* key) const {
  if (!value_.contains(key)) {
    fail("the key \"" + std::string(key) + "\" is missing", std::string(format_));
  }
  return child(value_.at(key), key);
}

std::vector<PlacedJson> PlacedJson::items() const {
  if (!value_.is_array()) fail("is not a list", std::string(format_));
  std::vector<PlacedJson> nodes;
  for (size_t i = 0; i < value_.size(); ++i) {
    nodes.push_back({value_[i], place_ + "[" + std::to_string(i) + "]", format_, false});
  }
  return nodes;
}

std::vector<std::pair<std::string, PlacedJson>> PlacedJson::members() const {
  if (!value_.is_object()) fail("is not an object", std::string(format_));
  std::vector<std::pair<std::string, PlacedJson>> nodes;
  for (const auto& [key, value] : value_.items()) nodes.emplace_back(key, child(value, key));
  return nodes;
}

std::string PlacedJson::text() const {
  if (!value_.is_string()) fail("is not a text", "Write it in double quotes");
  return value_.get<std::string>();
}

bool PlacedJson::flag() const {
  if (!value_.is_boolean()) fail("is neither true nor false", "Write one of them");
  return value_.get<bool>();
}

double PlacedJson::number(double least, double most) const {
  const double value = value_.is_number() ? value_.get<double>() : std::nan("");
  if (!(value >= least && value <= most)) {
    fail("is not a number that is possible here", "Write " + shown(least) + " to " + shown(most));
  }
  return value;
}

int PlacedJson::count(int least, int most) const {
  const double value = number(least, most);
  if (value != std::floor(value)) fail("is not a whole number", "Write one");
  return static_cast<int>(value);
}

std::string PlacedJson::axis_text(const Axis& axis) const {
  const bool numbers = axis.kind == AxisKind::count || axis.name == "env";
  if (value_.is_number_integer() && numbers) return json_text(value_);
  if (value_.is_number() && !numbers) {
    fail("is a number, and this axis takes names", "Write a name in double quotes");
  }
  if (!value_.is_string()) {
    fail("is neither a text nor a whole number",
         "Write a text in double quotes, or a whole number, for a value of an axis");
  }
  return text();
}

json parse_once_keyed(std::string_view text, const std::string& place) {
  if (const auto excess = json_excess(text, {.depth = kDeepest})) {
    if (excess->kind == JsonExcess::Kind::too_deep) {
      throw InputError(place, "is nested deeper than " + std::to_string(kDeepest) + " levels",
                       "No file of this kind needs more");
    }
    throw InputError(place, "has the key \"" + excess->key.substr(0, 60) + "\" twice in one object",
                     "Keep one of them: of two, the last would count without a word");
  }
  try {
    return parsed_json(text);
  } catch (const json::exception& error) {
    throw InputError(place, std::string("is not JSON: ") + json_problem(error), "Mend it there");
  }
}

}  // namespace mpsprobe
