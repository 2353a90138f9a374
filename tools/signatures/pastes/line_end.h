#pragma once

#include <cstddef>
#include <string_view>

namespace mpsprobe {

/// The bytes of the character at `text[at]` if boxes are drawn with it (U+2500 to U+259F), else 0.
/// Never throws, may be called from any thread.
size_t box_length(std::string_view text, size_t at);

/// `line` without the spaces, the carriage returns and the edge of a box at its end. Never throws,
/// may be called from any thread.
std::string_view without_end(std::string_view line);

}  // namespace mpsprobe
