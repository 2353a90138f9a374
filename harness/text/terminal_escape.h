#pragma once

#include <cstddef>
#include <string_view>

namespace mpsprobe {

/// Bytes of the terminal escape at text[at] (ECMA-48: a colour, a window title, a link), which is
/// an escape character; 1 where nothing known follows it. A string that meets another escape ends
/// there, so scanning a text with it looks at each byte no more than twice. Never throws, may be
/// called from any thread.
size_t terminal_escape_length(std::string_view text, size_t at);

}  // namespace mpsprobe
