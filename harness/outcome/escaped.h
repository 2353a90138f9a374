#pragma once

#include <cstddef>
#include <string_view>

namespace mpsprobe {

/// What a page or a quotation in another language wrote in place of one character.
struct Escaped {
  size_t length = 0;   ///< in bytes; 0: nothing is written in place of another
  char character = 0;  ///< what it stands for, '\0': nothing that is seen
};

/// What stands at the front of `text`: an HTML entity ("&quot;"), a quote behind a backslash, a
/// colour of a terminal spelt out ("\u001b[31m"). Looks at a bounded number of bytes. Never throws,
/// may be called from any thread.
Escaped escaped_at(std::string_view text);

/// Whether "\n" at text[at] stands for a line break, and is not part of a Windows path as in
/// "lib\numpy": no small letter follows. Never throws, may be called from any thread.
bool is_written_break(std::string_view text, size_t at);

}  // namespace mpsprobe
