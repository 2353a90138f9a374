#include "tools/signatures/pastes/unwrap.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>

#include "harness/signature/ascii.h"
#include "harness/signature/title.h"
#include "tools/signatures/pastes/line_end.h"
#include "tools/signatures/pastes/line_opening.h"
#include "tools/signatures/pastes/log_prefix.h"

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
  bool spaced = false;      ///< a space stands behind them
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
  return {line.substr(0, margin), whole.substr(margin), columns(whole), line.ends_with(' ')};
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

// How often the first of these characters stands there in a row, if it is a mark.
size_t marks_length(std::string_view words, char mark, bool at_end) {
  if (std::string_view("=-_*#~+.").find(mark) == npos) return 0;
  const size_t other = at_end ? words.find_last_not_of(mark) : words.find_first_not_of(mark);
  if (other == npos) return words.size();
  return at_end ? words.size() - 1 - other : other;
}

// A line that parts others ("=====", "== summary ==", "---- end"), not one that ends in dots.
bool is_rule(std::string_view words) {
  constexpr size_t kFewest = 3;
  if (words.empty()) return false;
  const size_t front = marks_length(words, words.front(), false);
  const size_t back = words.ends_with('.') ? 0 : marks_length(words, words.back(), true);
  return front > kFewest || back > kFewest || (front > 1 && back > 1);
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
  const bool what = line.words.starts_with("what():");
  if (!what && line.margin.size() > 1 && is_indentation(line.margin) && next.margin.empty()) {
    return false;
  }
  const bool sentence = std::string_view(".!?:;").find(line.words.back()) != npos;
  return !sentence || !ascii::upper(next.words[0]);
}

// Up to the last column, or, where the space in it got lost, the last but one.
bool fills(const Line& line, const Line& next, size_t width) {
  // Code, and under it what went wrong.
  const std::string_view word = first_word(next.words);
  const bool error = word.ends_with("Error:") || word.ends_with("Exception:");
  if (error && next.margin.empty() && line.margin.size() > 1 && is_indentation(line.margin)) {
    return false;
  }
  // A sentence's end, and what runtimes begin a line with.
  const bool ended = !line.words.empty() && std::string_view(".!?").find(line.words.back()) != npos;
  if (surely_begins_a_line(next.words)) return false;
  if (ended && begins_a_line(next.words)) return false;
  return line.width + 1 >= width && !next.words.empty() && !is_rule(line.words) &&
         !is_rule(next.words) && (goes_on_at(line.margin, next.margin) || next.margin == " ") &&
         first_word(line.words) != first_word(next.words);
}

// Whether the word on either side is one by itself, and no piece of one.
bool broken_at_a_word(const Line& line, const Line& next) {
  const std::string_view last = line.words.substr(line.words.rfind(' ') + 1);
  const std::string_view first = first_word(next.words);
  // "(a lane)", "should be": no word is glued to a bracket.
  if (std::string_view(")],;").find(last.back()) != npos && ascii::lower(first[0])) return true;
  // "dimensions f", "or input": no word is this short.
  const auto letter = [](std::string_view piece) {
    return piece.size() == 1 && ascii::lower(piece[0]) && piece != "a";
  };
  if (letter(last) || letter(first)) return false;
  // "Th", "is file": nor is one of two letters, as a rule.
  const auto short_piece = [](std::string_view piece) {
    return piece.size() == 2 && ascii::lower(piece[1]) && !leads_on(piece);
  };
  if (short_piece(last) || short_piece(first)) return false;
  return (last.size() > 1 && leads_on(last)) || (first.size() > 1 && leads_on(first));
}

// Whether a line that ends in the last column of a usual width goes on in the next, where no other
// line shows that the text was broken.
bool goes_on_once(const Line& line, const Line& next) {
  const char last = line.words.back();
  const char first = next.words[0];
  // A space in the first column, or in the last, was one between words.
  if (next.margin == " " || (line.spaced && !begins_a_line(next.words))) return true;
  if (std::string_view(")]}.,;:_").find(first) != npos) return true;
  // "non", "-batch dimensions"; "can", "'t do it".
  const bool joint = (first == '-' || first == '\'') && ascii::lower(ascii::at(next.words, 1));
  if (joint && ascii::word(last)) return true;
  // Within a path.
  const std::string_view token = line.words.substr(line.words.rfind(' ') + 1);  // npos + 1 is 0
  if (token.find('/') != npos && ascii::word(first)) return true;
  // Within a name: "[MPS", "Graph run]".
  if (ascii::upper(first) && ascii::word(last) && !begins_a_line(next.words)) {
    return std::any_of(token.begin(), token.end(),
                       [](char c) { return ascii::upper(c) || c == '_'; });
  }
  // A message's end.
  if (std::string_view(")]}.!?'\":;").find(last) != npos) return false;
  if (std::string_view("([{/_<=&|").find(last) != npos) return true;
  // A number alone begins another line; "_ZN3c105utils", "7get_envEv" is one name.
  if (ascii::digit(first)) {
    return (ascii::digit(last) || token.starts_with("_Z") || token.starts_with("__Z")) &&
           first_word(next.words).find_first_not_of("0123456789") != std::string_view::npos;
  }
  // "err", "or: no lane"
  const std::string both = std::string(token).append(first_word(next.words));
  for (std::string_view type : {"error:", "Error:", "Exception:"}) {
    if (both.ends_with(type) && first_word(next.words).size() < type.size()) return true;
  }
  // "Ac", "tual: 3"
  constexpr std::string_view kLabels[] = {
      "bash:", "debug:", "dyld:", "error:",  "fatal:",   "fish:",   "hint:",
      "info:", "make:",  "note:", "python:", "warning:", "what():", "zsh:"};
  const std::string_view word = first_word(next.words);
  const bool script = word.ends_with(".sh:") || word.ends_with(".py:");
  const bool label =
      word.ends_with(':') && !script && !is_source_place(word) && word.find('/') == npos;
  return ascii::lower(first) &&
         (label ? !ascii::is_one_of(word, kLabels) : !begins_a_line(next.words));
}

// Of terminals and pages, and what "> " leaves of them.
constexpr size_t kUsualWidths[] = {70, 72, 78, 80};

bool is_usual(size_t width) {
  return std::find(std::begin(kUsualWidths), std::end(kUsualWidths), width) !=
         std::end(kUsualWidths);
}

// Whether a message goes on in the next line where a page of `width` broke it between words.
bool is_message_broken_between_words(const Line& line, const Line& next, size_t width) {
  constexpr std::string_view kLeads[] = {
      "what():", "Error:", "Exception:", "error:", "failed assertion", "Error Domain="};
  const bool message =
      std::any_of(std::begin(kLeads), std::end(kLeads), [&](std::string_view lead) {
        const size_t found = line.words.find(lead);
        return found != npos && found + lead.size() < line.words.size();
      });
  // "round 3 of 8" is another line.
  const std::string_view behind = next.words.substr(first_word(next.words).size());
  // Near the edge, or within a sentence.
  constexpr size_t kNear = 3;
  const std::string_view last = line.words.substr(line.words.rfind(' ') + 1);  // npos + 1 is 0
  const bool shows = line.width + kNear >= width || leads_on(last) ||
                     (!next.words.empty() && leads_on(first_word(next.words)));
  return message && shows && !next.words.empty() && ascii::lower(next.words[0]) &&
         !ascii::digit(ascii::at(behind, 1)) && goes_on_between_words(line, next, width);
}

// The width of the page that broke one message once, between words; 0: there is none.
size_t width_that_broke_once(const std::vector<Line>& lines, size_t widest) {
  const auto* const width = std::find_if(std::begin(kUsualWidths), std::end(kUsualWidths),
                                         [widest](size_t each) { return each >= widest; });
  if (width == std::end(kUsualWidths)) return 0;
  size_t found = 0;
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    if (lines[i].words.empty()) continue;
    found += is_message_broken_between_words(lines[i], lines[i + 1], *width) ? 1 : 0;
  }
  return found == 1 ? *width : 0;
}

Wrapping wrapping_of(const std::vector<Line>& lines) {
  Wrapping wrapping;
  for (const Line& line : lines) {
    // One long word has no place to be broken at.
    const bool one = line.words.find(' ') == npos;
    if (!one || line.width <= kNarrowest) wrapping.width = std::max(wrapping.width, line.width);
  }
  // A space in the last column gets lost.
  if (!is_usual(wrapping.width) && is_usual(wrapping.width + 1)) ++wrapping.width;
  if (wrapping.width < kNarrowest || wrapping.width > kWidest) return {};
  // One line printed again and again is no witness: the lines that follow have to differ.
  std::set<std::string_view> full;    // what follows a line that ends in the last column
  std::set<std::string_view> whole;   // of these, where both sides look like words
  std::set<std::string_view> before;  // what had no room on a line that ends before it
  bool goes_on = false;
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    const Line& line = lines[i];
    const Line& next = lines[i + 1];
    if (line.words.empty()) continue;
    if (fills(line, next, wrapping.width)) {
      full.insert(first_word(next.words));
      goes_on = goes_on || goes_on_once(line, next);
      const bool at_a_space = line.spaced || next.margin == " ";
      if (!at_a_space && broken_at_a_word(line, next)) whole.insert(first_word(next.words));
    } else if (goes_on_between_words(line, next, wrapping.width)) {
      before.insert(first_word(next.words));
    }
  }
  // Broken between words, few lines end in the last column; broken within words, all do, and a
  // piece may look like a word ("in", "stead"). What was broken within words may hold sentences
  // that its author had broken between words.
  const bool usual = is_usual(wrapping.width);
  const bool pieces = 2 * whole.size() < full.size() + (usual ? 1 : 0);
  wrapping.within_words =
      before.empty()
          ? (full.size() > 1 && pieces) || (full.size() == 1 && usual && whole.empty() && goes_on)
          : full.size() > 2 && pieces && full.size() > before.size() + 1;
  if (wrapping.within_words || full.size() + before.size() > 1) return wrapping;
  return {width_that_broke_once(lines, wrapping.width), false};
}

// What stands between a line and the next where the two were one, or nothing where they were not.
std::optional<std::string_view> seam(const Line& line, const Line& next, const Wrapping& wrapping) {
  if (wrapping.width == 0 || line.words.empty()) return std::nullopt;
  if (!wrapping.within_words) {
    if (!goes_on_between_words(line, next, wrapping.width)) return std::nullopt;
    return " ";
  }
  if (!fills(line, next, wrapping.width)) return std::nullopt;
  // "pool.cc", ":12] no lane": no word begins so, whether the break took the last column or not.
  if (std::string_view(")]}.,;:").find(next.words[0]) != npos) return "";
  return line.width < wrapping.width || line.spaced || next.margin == " " ? " " : "";
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
