#include "harness/input/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace mpsprobe {
namespace {

template <typename Json>
std::string written(const Json& value, int indent, bool ascii) {
  return value.dump(indent, ' ', ascii, Json::error_handler_t::replace);
}

}  // namespace

using nlohmann::json;
using nlohmann::ordered_json;

json parsed_json(std::string_view text) {
  return json::parse(text);
}

json parsed_if_json(std::string_view text) {
  return json::parse(text, nullptr, false);
}

std::string json_text(const json& value, int indent) {
  return written(value, indent, false);
}

std::string json_text(const ordered_json& value, int indent) {
  return written(value, indent, false);
}

std::string ascii_json_text(const json& value, int indent) {
  return written(value, indent, true);
}

std::string ascii_json_text(const ordered_json& value, int indent) {
  return written(value, indent, true);
}

std::string json_document(const ordered_json& value) {
  return ascii_json_text(value, 1) + "\n";
}

std::string valid_utf8(std::string_view text) {
  // Most are ASCII, and nearly all of a journal's bytes go through here.
  if (std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; })) {
    return std::string(text);
  }
  // The library's own replacement, so that every place that writes JSON agrees with it.
  return parsed_json(json_text(json(text))).get<std::string>();
}

}  // namespace mpsprobe
