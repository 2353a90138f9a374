#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/signature/rules.h"

namespace mpsprobe {

/// A text in the form that rules are matched on, with the way back to the original. Printable
/// ASCII, letters beyond it in UTF-8, and line breaks only: blanks at a line's end and terminal
/// escapes are gone, several blanks are one, a carriage return breaks the line, every kind of quote
/// is ', what frames and progress bars are drawn with is a space, any other character or broken
/// byte is a question mark.
struct PlainText {
  std::string text;
  std::vector<size_t>
      origin;  ///< origin[i]: where text[i] came from, in bytes; one more at the end

  /// Where the line of text[at] begins; no further in front than `farthest` characters.
  size_t line_begin(size_t at, size_t farthest = std::string_view::npos) const;
  size_t line_end(size_t at) const;
};

/// Linear in the text. Of more than `most` bytes only the first and the last half are kept, with a
/// line break where they meet. Throws only for lack of memory; from any thread.
PlainText plain_text(std::string_view text, size_t most);

/// The same without the progress bars within its lines, and without what only names them.
PlainText plain_text(std::string_view text, size_t most, std::span<const Mask> noise);

/// A character of UTF-8.
struct Character {
  char32_t code = 0;
  size_t bytes =
      0;  ///< 0: the byte begins none, as in overlong forms, surrogates and beyond U+10FFFF
};
Character character_at(std::string_view text, size_t at);

/// Bytes of the terminal escape at text[at] (ECMA-48: a colour, a window title, a link), which is
/// an escape character; 1 where nothing known follows it. A string that meets another escape ends
/// there, so scanning a text with it looks at each byte no more than twice. Never throws, may be
/// called from any thread.
size_t terminal_escape_length(std::string_view text, size_t at);

}  // namespace mpsprobe
