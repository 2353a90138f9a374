#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mpsprobe {

/// A line, and how much at its front a logger put there.
struct WrittenLine {
  std::string_view text;
  size_t prefix = 0;
  std::string_view words() const { return text.substr(prefix); }
  /// Whether that is more than a quotation's mark or a box's edge: the line is one of its own.
  bool logged() const;
};

/// The lines' words as one text, those whole that a terminal or a page broke (pasted_text.h).
/// Throws only for lack of memory; from any thread.
std::string whole_lines(const std::vector<WrittenLine>& lines);

}  // namespace mpsprobe
