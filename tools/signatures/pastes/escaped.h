#pragma once

#include <cstddef>
#include <string_view>

namespace mpsprobe {

/// What a page or a quotation in another language wrote in place of one character.
struct Escaped {
  size_t length = 0;   ///< in bytes; 0: nothing is written in place of another
  char character = 0;  ///< what it stands for, '\0': nothing that is seen
};

/// What stands at the front of `text`: an HTML entity ("&quot;") or tag ("<br>", "</p>"), a quote
/// behind a backslash, a colour of a terminal spelt out ("\u001b[31m"). Looks at a bounded number
/// of bytes. Never throws, may be called from any thread.
Escaped escaped_at(std::string_view text);

/// What "\n", "\r" or "\t" at text[at] stands for, '\n' or ' ', as logs of JSON write them; '\0'
/// where there is none, or it is part of a Windows path as in "C:\lib\numpy". Looks at a bounded
/// number of bytes. Never throws, may be called from any thread.
char written_space(std::string_view text, size_t at);

}  // namespace mpsprobe
