#include "harness/input/json_shape.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <vector>

namespace mpsprobe {
namespace {

using nlohmann::json;

/// Takes what the library's parser tells of a document (its SAX interface), and stops it at the
/// first excess.
class ShapeWatch : public json::json_sax_t {
 public:
  explicit ShapeWatch(const JsonLimits& limits) : limits_(limits) {}

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, const string_t&) override { return value(); }
  bool string(string_t&) override { return value(); }
  bool binary(binary_t&) override { return value(); }
  bool start_object(std::size_t) override { return open(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    Open& object = open_.back();
    if (++object.keys > limits_.keys) return stop(JsonExcess::Kind::too_many_keys);
    if (!limits_.repeated_keys && !object.names.insert(name).second) {
      return stop(JsonExcess::Kind::repeated_key, name);
    }
    return value();
  }
  bool parse_error(std::size_t, const std::string&, const json::exception&) override {
    return false;
  }

  std::optional<JsonExcess> excess() && { return std::move(excess_); }

 private:
  struct Open {
    size_t keys = 0;
    std::unordered_set<std::string> names;
  };

  bool stop(JsonExcess::Kind kind, std::string key = "") {
    excess_ = JsonExcess{kind, std::move(key)};
    return false;
  }
  bool value() { return ++values_ <= limits_.values || stop(JsonExcess::Kind::too_many_values); }
  bool open() {
    open_.emplace_back();
    if (open_.size() > limits_.depth) return stop(JsonExcess::Kind::too_deep);
    return value();
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  JsonLimits limits_;
  size_t values_ = 0;
  std::vector<Open> open_;
  std::optional<JsonExcess> excess_;
};

}  // namespace

std::optional<JsonExcess> json_excess(std::string_view text, const JsonLimits& limits) {
  ShapeWatch watch(limits);
  json::sax_parse(text.begin(), text.end(), &watch);
  return std::move(watch).excess();
}

bool nested_deeper(std::string_view json, int depth) {
  const auto opened =
      std::count_if(json.begin(), json.end(), [](char c) { return c == '[' || c == '{'; });
  if (opened <= depth) return false;  // most lines, and quick to tell
  int open = 0;
  bool quoted = false;
  for (size_t i = 0; i < json.size() && open <= depth; ++i) {
    const char c = json[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '[' || c == '{') ++open;
    if (c == ']' || c == '}') --open;
  }
  return open > depth;
}

const json& member(const json& object, const char* key) {
  static const json kNull;
  if (!object.is_object()) return kNull;
  const auto at = object.find(key);
  return at == object.end() ? kNull : *at;
}

std::string text_at(const json& object, const char* key) {
  const json& text = member(object, key);
  return text.is_string() ? text.get<std::string>() : "";
}

std::string json_problem(const std::exception& error) {
  std::string_view problem = error.what();
  if (problem.starts_with("[json.exception.")) {
    const size_t end = problem.find("] ");
    if (end != std::string_view::npos) problem.remove_prefix(end + 2);
  }
  return std::string(problem);
}

}  // namespace mpsprobe
