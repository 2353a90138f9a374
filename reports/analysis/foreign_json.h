#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace mpsprobe {

// What a worker said, which may be anything. None of these throws for what it is given.

/// A member of an object; null where there is none, or `object` is no object.
const nlohmann::json& member(const nlohmann::json& object, const char* key);

/// The text of a string; "" for all else.
std::string text_of(const nlohmann::json& value);

/// On one line, in ASCII: what is no text is replaced.
std::string dumped(const nlohmann::json& value);

}  // namespace mpsprobe
