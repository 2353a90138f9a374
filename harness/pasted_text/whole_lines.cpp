#include "harness/pasted_text/whole_lines.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "harness/signature/fragment_search.h"
#include "harness/signature/plain_text.h"
#include "harness/signature/rules.h"
#include "harness/signature/shape.h"
#include "harness/signature/title.h"
#include "harness/wire/ascii.h"
#include "harness/wire/split.h"

namespace mpsprobe {
namespace {

// Narrower than any terminal or page, wider than those that people read logs on.
constexpr size_t kNarrowest = 60;
constexpr size_t kWidest = 250;
constexpr size_t kUsualWidths[] = {70, 72, 78, 80, 100, 120};
// As much of a line's end and of the next one's beginning as a known message is looked for in.
constexpr size_t kLookedAt = 160;

// Whether words begin a line of their own, and are hardly the rest of a broken one.
bool is_opening(std::string_view words) {
  static const Shape kOpening(
      R"([/#>*|=+~@\\^$%{}"]|[-+]\[|--|\[[a-z][^\]\n]*\]|[\w.-]+[\[(]\d[^ ,;.]* |[\w./()*-]+:(?: |$)|)"
      R"(at (?!least|most)|\S+\.[a-z]+:\d+:|\d+ |)"
      R"((?:File |Traceback|Thread |Process |Current thread|frame |goroutine |note|During handling|)"
      R"(The above|Exception |terminate called|libc\+\+|libdispatch|double free|free\(\)|malloc|)"
      R"(corrupted |dyld|objc|Abort|Segmentation|zsh|bash|fish|Command terminated|make\[))");
  return words.empty() || kOpening.match(words, 0).has_value();
}

// "=====", "== summary ==", not a line that ends in dots.
bool is_rule(std::string_view words) {
  static const Shape kRule(R"(====|----|____|\*\*\*\*|####|~~~~|[=_*#~-]+ .* [=_*#~-]+$)");
  return kRule.match(words, 0).has_value();
}

size_t columns(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  }));
}

std::string_view first_word(std::string_view words) {
  return words.substr(0, words.find(' '));
}

// All literal parts of known messages that are long enough to tell one.
const FragmentSearch& known_parts() {
  static const FragmentSearch search([] {
    constexpr size_t kShortest = 8;
    std::set<std::string_view> kept;
    const auto keep = [&](std::string_view part) {
      if (part.size() >= kShortest && part.find('\n') == std::string_view::npos) kept.insert(part);
    };
    for (const TextRule& text : Rules::standard().texts) {
      for (const std::string_view fragment : text.fragments) keep(fragment);
    }
    return std::vector<std::string_view>(kept.begin(), kept.end());
  }());
  return search;
}

// What a known message has between the two, where it goes on from one to the other.
std::optional<std::string_view> known_seam(std::string_view line, std::string_view next) {
  line = line.substr(line.size() - std::min(line.size(), kLookedAt));
  const std::string front = plain_text(line, kLookedAt).text;
  const std::string back = plain_text(next.substr(0, kLookedAt), kLookedAt).text;
  for (std::string_view between : {" ", ""}) {
    const std::string both = front + std::string(between) + back;
    bool found = false;
    known_parts().scan(both, [&](size_t, size_t begin, size_t end) {
      found = found || (end > front.size() + between.size() && begin < front.size());
    });
    if (found) return between;
  }
  return std::nullopt;
}

// Whether the word on either side of a break is one by itself, and no piece of one.
bool words_meet(std::string_view line, std::string_view rest) {
  const std::string_view last = line.substr(line.rfind(' ') + 1);  // npos + 1 is 0
  const std::string_view first = first_word(rest);
  // "(a lane)", "should be": no word is glued to a bracket.
  if (std::string_view(")],;").find(line.back()) != std::string_view::npos &&
      ascii::lower(first[0]))
    return true;
  const auto short_piece = [](std::string_view piece) {
    return piece.size() < 3 && ascii::lower(piece.back()) && piece != "a" && !leads_on(piece);
  };
  if (short_piece(last) || short_piece(first)) return false;
  return (last.size() > 1 && leads_on(last)) || (first.size() > 1 && leads_on(first));
}

/// How a text was broken into lines: at which width, and whether between words alone.
struct Wrapping {
  size_t width = 0;  ///< 0: it was not
  bool between_words = false;
};

bool is_usual(size_t width) {
  return std::find(std::begin(kUsualWidths), std::end(kUsualWidths), width) !=
         std::end(kUsualWidths);
}

// In columns, up to where the words end.
size_t width_of(const WrittenLine& line) {
  return columns(line.text.substr(0, line.text.find_last_not_of(" \t\r") + 1));  // npos + 1 is 0
}

std::string_view margin_of(const WrittenLine& line) {
  const std::string_view words = line.words();
  return words.substr(0, std::min(words.find_first_not_of(" \t"), words.size()));
}

bool may_go_on(const WrittenLine& line, const WrittenLine& next) {
  static const Shape kError(R"([\w.]*(?:Error|Exception):)");
  const std::string_view words = trimmed(line.words());
  const std::string_view rest = trimmed(next.words());
  if (words.empty() || rest.empty() || next.logged() || is_rule(words) || is_rule(rest)) {
    return false;
  }
  const std::string_view margin = margin_of(next);
  if (margin.size() > 1 && margin != margin_of(line)) return false;
  // Code, and under it what went wrong.
  if (margin.empty() && margin_of(line).size() > 1 && kError.match(rest, 0)) return false;
  const bool sentence = std::string_view(".!?").find(words.back()) != std::string_view::npos;
  return !(sentence && ascii::upper(rest[0])) && first_word(words) != first_word(rest);
}

// Up to the last column, or, where the space in it got lost, the last but one.
bool fills(const WrittenLine& line, const WrittenLine& next, size_t width) {
  static const Shape kRuntimes(
      "Traceback|terminate called|Exception raised from|frame #|Segmentation|Aborted|make");
  const size_t own = width_of(line);
  return own + 1 >= width && own <= width && may_go_on(line, next) &&
         !kRuntimes.match(trimmed(next.words()), 0);
}

// Whether the next word had no room, and is no beginning of a line.
bool had_no_room(const WrittenLine& line, const WrittenLine& next, size_t width) {
  const size_t own = width_of(line);
  const std::string_view words = trimmed(line.words());
  const std::string_view rest = trimmed(next.words());
  if (own < kNarrowest || own >= width || !may_go_on(line, next) || is_opening(rest)) return false;
  if (std::string_view(":;").find(words.back()) != std::string_view::npos && ascii::upper(rest[0]))
    return false;
  // Code, and under it what went wrong.
  const bool code = margin_of(line).size() > 1 && margin_of(next).empty();
  if (code && !words.starts_with("what()")) return false;
  return own + 1 + columns(first_word(rest)) > width;
}

Wrapping wrapping_of(const std::vector<WrittenLine>& lines) {
  Wrapping wrapping;
  for (const WrittenLine& line : lines) {
    // One long word has no place to be broken at.
    const size_t own = width_of(line);
    const bool one = trimmed(line.words()).find(' ') == std::string_view::npos;
    if (!one || own <= kNarrowest) wrapping.width = std::max(wrapping.width, own);
  }
  if (!is_usual(wrapping.width) && is_usual(wrapping.width + 1)) ++wrapping.width;
  if (wrapping.width < kNarrowest || wrapping.width > kWidest) return {};
  // One line printed again and again is no witness: the lines that follow have to differ.
  std::set<std::string_view> full;    // what follows a line that ends in the last column
  std::set<std::string_view> whole;   // of these, where both sides look like words
  std::set<std::string_view> before;  // what had no room on a line that ends before it
  bool opening = false;
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    const std::string_view rest = trimmed(lines[i + 1].words());
    if (fills(lines[i], lines[i + 1], wrapping.width)) {
      full.insert(first_word(rest));
      opening = opening || is_opening(rest);
      const bool at_a_space = lines[i].text.ends_with(' ') || margin_of(lines[i + 1]) == " ";
      if (!at_a_space && words_meet(trimmed(lines[i].words()), rest))
        whole.insert(first_word(rest));
    } else if (had_no_room(lines[i], lines[i + 1], wrapping.width)) {
      before.insert(first_word(rest));
    }
  }
  // Broken between words, few lines end in the last column; broken within words, all do, and a
  // piece may look like a word ("in", "stead").
  const bool usual = is_usual(wrapping.width);
  const bool pieces = 2 * whole.size() < full.size() + (usual ? 1 : 0);
  const bool once = full.size() == 1 && usual && whole.empty() && !opening;
  const bool within = before.empty() ? (full.size() > 1 && pieces) || once
                                     : full.size() > 2 && pieces && full.size() > before.size() + 1;
  wrapping.between_words = !within;
  return within || full.size() + before.size() > 1 ? wrapping : Wrapping();
}

// In the middle of a message's sentence, wherever a page broke it.
bool sentence_goes_on(const WrittenLine& line, const WrittenLine& next) {
  if (!may_go_on(line, next)) return false;
  const std::string_view words = trimmed(line.words());
  const std::string_view rest = trimmed(next.words());
  if (is_opening(rest) || !ascii::lower(rest[0]) || words.size() < kNarrowest) return false;
  static const Shape kMessage(
      R"(.*?(?:what\(\):|Error:|error:|Exception:|failed assertion |Check failed:) ?\S)");
  const bool message = kMessage.match(words, 0).has_value();
  const std::string_view last = words.substr(words.rfind(' ') + 1);  // npos + 1 is 0
  return message &&
         (leads_on(last) || leads_on(first_word(rest)) ||
          std::string_view(".!?:;)]}'=*\"").find(words.back()) == std::string_view::npos);
}

// What stood between `whole`, which ends with the line `last`, and `next`; nothing where they are
// two lines.
std::optional<std::string_view> seam(std::string_view whole, const WrittenLine& last,
                                     const WrittenLine& next, const Wrapping& wrapping) {
  const std::string_view rest = trimmed(next.words());
  if (trimmed(whole).empty() || rest.empty()) return std::nullopt;
  if (const auto known = known_seam(trimmed(whole), rest)) return known;
  if (wrapping.width > 0 && wrapping.between_words) {
    const bool full = fills(last, next, wrapping.width) && !is_opening(rest);
    if (full || had_no_room(last, next, wrapping.width)) return " ";
  } else if (wrapping.width > 0 && fills(last, next, wrapping.width)) {
    const std::string_view words = next.words();
    const bool space = width_of(last) < wrapping.width || last.text.ends_with(' ') ||
                       (words.starts_with(' ') && !words.starts_with("  "));
    return space && std::string_view(")]}.,;:").find(rest[0]) == std::string_view::npos ? " " : "";
  }
  if (sentence_goes_on(last, next)) return " ";
  return std::nullopt;
}

}  // namespace

bool WrittenLine::logged() const {
  const std::string_view front = text.substr(0, prefix);
  return std::any_of(front.begin(), front.end(), ascii::word);
}

std::string whole_lines(const std::vector<WrittenLine>& lines) {
  const Wrapping wrapping = wrapping_of(lines);
  std::string result;
  size_t begin = 0;  // of the result's last line
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view last = std::string_view(result).substr(begin);
    const auto between = i == 0 ? std::nullopt : seam(last, lines[i - 1], lines[i], wrapping);
    if (!between) {
      if (i > 0) result += '\n';
      begin = result.size();
      result += lines[i].words();
      continue;
    }
    result.resize(result.find_last_not_of(" \t\r") + 1);
    result += *between;
    result += trimmed(lines[i].words());
  }
  return result;
}

}  // namespace mpsprobe
