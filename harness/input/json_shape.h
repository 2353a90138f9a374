#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

// The shape of JSON from elsewhere (what a crashing child printed, a crash report, somebody's
// file), looked at before it is taken into memory. The library's own way to watch its parser, a
// callback, is none for such a text: after each object that ends it walks all that the parent holds
// so far, so that a list of 80,000 empty objects takes 2 s and one of 350,000, a megabyte, most of
// a minute.

namespace mpsprobe {

struct JsonLimits {
  size_t depth = 64;           ///< of values within one another; copying and writing recurse
  size_t values = SIZE_MAX;    ///< of all kinds, keys among them
  size_t keys = SIZE_MAX;      ///< of one object
  bool repeated_keys = false;  ///< of two alike the library keeps the last without a word
};

struct JsonExcess {
  enum class Kind { too_deep, too_many_values, too_many_keys, repeated_key };
  Kind kind = Kind::too_deep;
  std::string key;  ///< the first that stands twice in one object
};

/// The first of the limits that `text` goes beyond; nothing where it keeps them all, or ends or
/// breaks before it goes beyond one: what is no JSON is the parser's to tell. O(size). Pure.
std::optional<JsonExcess> json_excess(std::string_view text, const JsonLimits& limits);

// What a worker said, or a file, may be anything: neither of these throws for what it is given.

/// The member of an object; null where there is none, or `object` is no object.
const nlohmann::json& member(const nlohmann::json& object, const char* key);

/// The text at a key; "" where `object` is no object or has no text there.
std::string text_at(const nlohmann::json& object, const char* key);

/// What the library says of JSON that it cannot take, without its own name in brackets in front.
std::string json_problem(const std::exception& error);

/// Whether JSON is nested deeper than `depth`. Looks at bytes alone, and is several times as quick
/// as json_excess: for lines that come by the million. Pure.
bool nested_deeper(std::string_view json, int depth);

}  // namespace mpsprobe
