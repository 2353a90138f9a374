#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mpsprobe {

/// A text in the form that patterns are matched on, with the way back to the original.
/// ASCII only: runs of whitespace and control characters are one space, terminal escapes are gone,
/// every kind of quote is ', what frames are drawn with is a space, any other character or broken
/// byte is a question mark.
struct NormalText {
  std::string text;
  std::vector<size_t>
      origin;                ///< origin[i]: where text[i] came from, in bytes; one more at the end
  std::vector<bool> breaks;  ///< breaks[i]: text[i] is a space that stands for a line break

  /// Whether a line of the original began at text[position].
  bool line_starts_at(size_t position) const { return position == 0 || breaks[position - 1]; }
};

/// Whether a line of output was broken to fit a terminal or a page, and goes on with `next`: it is
/// long, does not end a sentence or a banner, and `next` begins in lower case, and not like a line
/// of its own (line_opening.h). Both normal.
bool goes_on(std::string_view line, std::string_view next);

/// What becomes of what a log puts in front of every line.
enum class Logs : bool { kept, left_out };

/// Linear in the text. Of more than `most` bytes only the first and the last half are kept, with a
/// line break where they meet.
NormalText normalise_text(std::string_view text, size_t most, Logs logs = Logs::kept);

}  // namespace mpsprobe
