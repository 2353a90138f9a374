#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

// JSON out of text and into it, by the library's own parser and writer. They are templates, which
// every source that names them compiles anew: 2 s of gcc each. And not optimised, they take half of
// the time of a report. So they are named here alone, and json_text.cpp is optimised in each build.

namespace mpsprobe {

/// Throws nlohmann::json::exception where `text` is no JSON. Thread-safe, as all below.
nlohmann::json parsed_json(std::string_view text);

/// Where `text` is no JSON, what is_discarded().
nlohmann::json parsed_if_json(std::string_view text);

/// `value` as text: on one line, or indented by so many spaces. Bytes that are no UTF-8 become
/// U+FFFD.
std::string json_text(const nlohmann::json& value, int indent = -1);
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

/// The same in ASCII alone: every other letter is escaped.
std::string ascii_json_text(const nlohmann::json& value, int indent = -1);
std::string ascii_json_text(const nlohmann::ordered_json& value, int indent = -1);

/// A file of it: indented, in ASCII alone, with a newline at its end.
std::string json_document(const nlohmann::ordered_json& value);

/// `text` as valid UTF-8: every byte that is none becomes U+FFFD, as json_text writes it.
std::string valid_utf8(std::string_view text);

}  // namespace mpsprobe
