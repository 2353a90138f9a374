#include "harness/outcome/unwrap.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "harness/outcome/ascii.h"
#include "harness/outcome/first_words.h"
#include "harness/outcome/line_end.h"
#include "harness/outcome/line_opening.h"
#include "harness/outcome/log_prefix.h"

namespace mpsprobe {
namespace {

// Narrower than any terminal or page, wider than those that people read logs on.
constexpr size_t kNarrowest = 60;
constexpr size_t kWidest = 250;
constexpr auto npos = std::string_view::npos;

/// A line, taken apart.
struct Line {
  std::string_view margin;  ///< indentation, a box's edge, what a log put in front
  std::string_view words;   ///< the rest, without spaces and a box's edge at the end
  size_t width = 0;         ///< in columns, up to where the words end
};

size_t columns(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  }));
}

Line take_apart(std::string_view line) {
  size_t margin = 0;
  for (size_t length = 1; margin < line.size() && length > 0; margin += length) {
    length = line[margin] == ' ' || line[margin] == '\t' ? 1 : box_length(line, margin);
  }
  margin += log_prefix_length(line.substr(margin));
  const std::string_view whole = without_end(line);
  margin = std::min(margin, whole.size());
  return {line.substr(0, margin), whole.substr(margin), columns(whole)};
}

std::string_view first_word(std::string_view words) {
  return words.substr(0, words.find(' '));
}

/// How a text was broken into lines.
struct Wrapping {
  size_t width = 0;  ///< in columns; 0: it was not
  bool within_words = false;
};

bool is_indentation(std::string_view margin) {
  return margin.find_first_not_of(" \t") == npos;
}

// Whether the next line's margin is what is put in front of the rest of a broken line.
bool goes_on_at(std::string_view margin, std::string_view next) {
  return margin == next || next.empty();
}

// A line that parts others ("=====", "-- summary --").
bool is_rule(std::string_view words) {
  constexpr size_t kFewest = 3;
  const auto same = [](std::string_view marks) {
    return marks.size() == kFewest && std::string_view("=-_*#~+.").find(marks[0]) != npos &&
           marks.find_first_not_of(marks[0]) == npos;
  };
  return same(words.substr(0, kFewest)) ||
         same(words.substr(words.size() - std::min(words.size(), kFewest)));
}

// Whether the next word had no room on the line.
bool is_full(const Line& line, const Line& next, size_t width) {
  return line.width >= kNarrowest && line.width >= width / 2 && !next.words.empty() &&
         !is_rule(line.words) && !is_rule(next.words) && goes_on_at(line.margin, next.margin) &&
         first_word(line.words) != first_word(next.words) &&
         line.width + 1 + columns(first_word(next.words)) > width;
}

bool goes_on_between_words(const Line& line, const Line& next, size_t width) {
  if (!is_full(line, next, width) || begins_a_line(next.words)) return false;
  // Code, and under it what went wrong.
  if (line.margin.size() > 1 && is_indentation(line.margin) && next.margin.empty()) return false;
  const bool sentence = std::string_view(".!?:;").find(line.words.back()) != npos;
  return !sentence || !ascii::upper(next.words[0]);
}

// Up to the last column, or, where the space in it got lost, the last but one.
bool fills(const Line& line, const Line& next, size_t width) {
  return line.width + 1 >= width && !next.words.empty() && !is_rule(line.words) &&
         !is_rule(next.words) && (goes_on_at(line.margin, next.margin) || next.margin == " ") &&
         first_word(line.words) != first_word(next.words);
}

// Whether the word on either side is one by itself, and no piece of one.
bool broken_at_a_word(const Line& line, const Line& next) {
  const std::string_view last = line.words.substr(line.words.rfind(' ') + 1);
  const std::string_view first = first_word(next.words);
  // "dimensions f", "or input": no word is this short.
  const bool letter = last.size() == 1 && ascii::lower(last[0]) && last != "a";
  if (letter) return false;
  return (last.size() > 1 && leads_on(last)) || (first.size() > 1 && leads_on(first));
}

Wrapping wrapping_of(const std::vector<Line>& lines) {
  constexpr size_t kFewest = 2;
  // Of terminals and pages, and what "> " leaves of them: one line that ends there is enough.
  constexpr size_t kUsual[] = {70, 72, 78, 80};
  Wrapping wrapping;
  for (const Line& line : lines) {
    // One long word has no place to be broken at.
    const bool one = line.words.find(' ') == npos;
    if (!one || line.width <= kNarrowest) wrapping.width = std::max(wrapping.width, line.width);
  }
  if (wrapping.width < kNarrowest || wrapping.width > kWidest) return {};
  std::set<std::string_view> between;  // the words that had no room
  std::set<std::string_view>
      short_of_width;  // of these, where the line ends before the last column
  bool whole_words = false;
  bool goes_on = false;  // of the last line that ends in the last column
  std::set<std::string_view> rests;
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    const Line& line = lines[i];
    const Line& next = lines[i + 1];
    if (line.words.empty()) continue;
    if (line.width == wrapping.width && fills(line, next, wrapping.width)) {
      rests.insert(first_word(next.words));
      const char first = next.words[0];
      const bool closing = std::string_view(")]}.,;").find(first) != npos;
      // A space in the first column was one between words.
      goes_on =
          closing || next.margin == " " || (ascii::lower(first) && !begins_a_line(next.words));
      whole_words = whole_words || (next.margin != " " && broken_at_a_word(line, next));
    }
    if (!goes_on_between_words(line, next, wrapping.width)) continue;
    between.insert(first_word(next.words));
    if (line.width + 1 < wrapping.width) short_of_width.insert(first_word(next.words));
  }
  // A space in the last column gets lost.
  const bool usual = std::any_of(std::begin(kUsual), std::end(kUsual), [&](size_t width) {
    return wrapping.width == width || wrapping.width + 1 == width;
  });
  const bool once = usual && goes_on && between.size() <= 1 && rests.size() == 1;
  // Broken between words, few lines end in the last column; broken within words, all do, and a
  // piece may look like a word ("in", "stead"). One line printed again and again is no witness: it
  // ends where it ends.
  const bool all = rests.size() > kFewest || ((rests.size() == kFewest || once) && !whole_words);
  // And what was broken may hold sentences that its author had broken between words.
  const bool more = rests.size() > kFewest && rests.size() > short_of_width.size() + 1;
  wrapping.within_words = all && (short_of_width.empty() || more);
  return wrapping.within_words || between.size() >= kFewest ? wrapping : Wrapping{};
}

// What stands between a line and the next where the two were one, or nothing where they were not.
std::optional<std::string_view> seam(const Line& line, const Line& next, const Wrapping& wrapping) {
  if (wrapping.width == 0 || line.words.empty()) return std::nullopt;
  if (!wrapping.within_words) {
    if (!goes_on_between_words(line, next, wrapping.width)) return std::nullopt;
    return " ";
  }
  if (!fills(line, next, wrapping.width)) return std::nullopt;
  return line.width < wrapping.width || next.margin == " " ? " " : "";
}

}  // namespace

std::string unwrap(const std::vector<std::string_view>& broken) {
  std::vector<Line> lines;
  lines.reserve(broken.size());
  std::transform(broken.begin(), broken.end(), std::back_inserter(lines), take_apart);
  const Wrapping wrapping = wrapping_of(lines);
  std::string result;
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto between = i == 0 ? std::nullopt : seam(lines[i - 1], lines[i], wrapping);
    if (!between) {
      if (i > 0) result += '\n';
      result += broken[i];
      continue;
    }
    result.resize(without_end(result).size());
    result += *between;
    result += lines[i].words;
  }
  return result;
}

}  // namespace mpsprobe
