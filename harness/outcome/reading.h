#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "harness/outcome/pattern_search.h"
#include "harness/text/normal_text.h"

namespace mpsprobe {

/// How far in front of a match a line's beginning is looked for, in characters.
constexpr size_t kLookBack = 200;

/// What stands around a match in a normalised text. Does not own the text.
struct Reader {
  const NormalText& normal;
  size_t stop;  ///< nothing from here on belongs to the match

  std::string_view text() const { return normal.text; }
  std::string_view slice(size_t begin, size_t end) const {
    return begin < end && begin < text().size() ? text().substr(begin, end - begin)
                                                : std::string_view();
  }
  /// The next line break, or `limit`, which is no more than the text's size.
  size_t break_at(size_t from, size_t limit) const {
    while (from < limit && !normal.breaks[from]) ++from;
    return from;
  }
  /// Of the line, which goes on where a terminal or a page broke it.
  size_t line_end(size_t from) const {
    size_t end = from;
    while (end < stop) {
      end = break_at(end, stop);
      if (end >= stop || is_logged(end)) break;
      if (!goes_on(slice(line_begin(end), end), slice(end + 1, stop))) break;
      ++end;
    }
    return std::min(end, stop);
  }
  // Whether more than an indentation was left out behind the line break: what a log put there.
  bool is_logged(size_t line_break) const {
    constexpr size_t kDeepest = 8;
    return normal.origin[line_break + 1] - normal.origin[line_break] > kDeepest;
  }
  size_t line_begin(size_t from) const {
    const size_t limit = from > kLookBack ? from - kLookBack : 0;
    while (from > limit && !normal.line_starts_at(from)) --from;
    return from;
  }
  size_t find(std::string_view what, size_t from) const {
    const size_t found = slice(from, stop).find(what);
    return found == std::string_view::npos ? std::string_view::npos : from + found;
  }

  // Where the quotation that was opened in front of `from` ends. Messages hold quotes and line
  // breaks of their own, so: the last quote of the first line, where the line ends with it; else
  // the first that is not followed by a word; else the same on the lines that follow.
  size_t closing_quote(size_t from) const {
    for (size_t begin = from; begin < stop;) {
      const size_t end = line_end(begin);
      size_t last = end;
      while (last > begin &&
             std::string_view("'.,)]}").find(text()[last - 1]) != std::string_view::npos)
        --last;
      const size_t at_end = slice(last, end).find('\'');
      if (at_end != std::string_view::npos) return last + at_end;
      for (size_t i = begin; i + 1 < end; ++i) {
        if (text()[i] == '\'' &&
            std::string_view(" .,)]'").find(text()[i + 1]) != std::string_view::npos)
          return i;
      }
      begin = end + 1;
      // Cut before it was closed: another program goes on.
      if (begin < stop && text()[begin] == '/') break;
    }
    return std::string_view::npos;
  }
};

/// What a pattern's Reading made of the text around it.
struct ReadText {
  std::string message;  ///< normalised, not yet a title
  size_t end = 0;       ///< where it ends in the normalised text
};

/// Reads what `match` asks for, or nothing where the text has not the form that it needs. Looks at
/// no character from reader.stop on, and at most kLookBack in front of the match.
std::optional<ReadText> read_match(const Reader& reader, const Match& match);

}  // namespace mpsprobe
