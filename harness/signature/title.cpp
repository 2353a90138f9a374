#include "harness/signature/title.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>

#include "harness/signature/function_name.h"
#include "harness/signature/plain_text.h"
#include "harness/signature/shape.h"
#include "harness/wire/ascii.h"

namespace mpsprobe {
namespace {

using ascii::at;
using ascii::word;

constexpr size_t kMostOfMessage = 1024;
constexpr size_t kMostWords = 6;

// Words that only lead on to others within a sentence: those that a golden needs.
constexpr std::string_view kLeadingOn[] = {"and", "are", "as", "by", "does", "from", "in",  "is",
                                           "it",  "of",  "on", "or", "the",  "to",   "with"};

}  // namespace

bool leads_on(std::string_view token) {
  return std::find(std::begin(kLeadingOn), std::end(kLeadingOn), token) != std::end(kLeadingOn);
}

namespace {

// A byte of a letter beyond ASCII: plain_text() leaves no other byte of that kind.
bool foreign(char c) {
  return static_cast<unsigned char>(c) >= 0x80;
}

bool letter(char c) {
  return ascii::upper(c) || ascii::lower(c) || foreign(c);
}

bool names_something(std::string_view token) {
  return std::count_if(token.begin(), token.end(), letter) > 1 && !token.ends_with(':') &&
         !leads_on(token);
}

// What captures cut, wrap and reword most stands behind a message's first words; messages that
// differ at all nearly always differ before.
std::string_view first_words(std::string_view title) {
  size_t end = 0;
  size_t words = 0;
  for (size_t begin = 0; begin < title.size() && words < kMostWords; begin = end + 1) {
    end = std::min(title.find(' ', begin), title.size());
    if (names_something(title.substr(begin, end - begin))) ++words;
  }
  if (end >= title.size()) return title;
  title = title.substr(0, end);
  for (size_t space = title.rfind(' '); space != std::string_view::npos; space = title.rfind(' ')) {
    if (!leads_on(title.substr(space + 1))) break;
    title = title.substr(0, space);
  }
  return title;
}

// The first line, and the next where that only announces it.
std::string decisive_lines(std::string_view message) {
  const std::string text = plain_text(message.substr(0, kMostOfMessage), kMostOfMessage).text;
  const size_t begin = std::min(text.find_first_not_of(" \n"), text.size());
  const size_t end = std::min(text.find('\n', begin), text.size());
  std::string line = text.substr(begin, end - begin);
  while (line.ends_with(' ')) line.pop_back();
  if (line.ends_with(':') && end < text.size()) {
    const size_t next = std::min(text.find_first_not_of(" \n", end), text.size());
    line += ' ' + text.substr(next, text.find('\n', next) - next);
  }
  return line;
}

// The first mask that fits at text[i].
const Mask* mask_at(const Rules& rules, std::string_view text, size_t i, ShapeMatch& match) {
  for (const Mask& mask : rules.masks) {
    const auto found = mask.shape.match(text, i);
    if (!found || found->end == i || (mask.ends_the_title && i == 0)) continue;
    match = *found;
    return &mask;
  }
  return nullptr;
}

// "<type>, <type> and <type>" is one value, as is "<type>".
void put(std::string& title, std::string_view stand_in) {
  for (std::string_view between : {", ", " and ", " or ", ", and ", ", or ", " x ", "/"}) {
    if (!stand_in.starts_with('<') || !title.ends_with(between)) continue;
    const std::string_view before =
        std::string_view(title).substr(0, title.size() - between.size());
    if (!before.ends_with(stand_in)) continue;
    title.resize(before.size());
    return;
  }
  title += stand_in;
}

// Cut where a character begins.
void shorten(std::string& title, size_t most) {
  if (title.size() <= most) return;
  while (most > 0 && (static_cast<unsigned char>(title[most]) & 0xc0) == 0x80) --most;
  title.resize(most);
}

// What was written in letters that got lost on the way: how much there was is all that is left.
std::string lost_text(std::string_view text) {
  const auto lost = std::count(text.begin(), text.end(), '?');
  return lost < 4 ? "" : "a text of " + std::to_string(lost) + " characters that were lost";
}

std::string without_loose_ends(std::string title) {
  constexpr std::string_view kFront = " :,;";
  constexpr std::string_view kBack = " :,;([.*!?";
  // A bracket whose partner was cut off.
  const size_t open = title.rfind(" (");
  if (open != std::string_view::npos && open > 0 && title.find(')', open) == std::string_view::npos)
    title.resize(open);
  if (title.ends_with(')') && title.find('(') == std::string_view::npos) title.pop_back();
  while (!title.empty() && kBack.find(title.back()) != std::string_view::npos) title.pop_back();
  title.erase(0, std::min(title.find_first_not_of(kFront), title.size()));
  return title;
}

// Quotes come in all kinds, and get lost on the way through shells. Apostrophes within words stay.
bool is_quote(std::string_view text, size_t i) {
  return text[i] == '\'' && !(i > 0 && word(text[i - 1]) && ascii::lower(at(text, i + 1)));
}

// A few words, or the name of an error alone.
bool says_enough(std::string_view text) {
  // Some languages put no spaces between words: a dozen of their bytes do.
  static const Shape kEnough(
      R"((?:.*?(?<![\w.\x80-\xff])(?!\d)[\w\x80-\xff]){2}|(?:[^\x80-\xff]*[\x80-\xff]){12}|)"
      R"([^ ]*[_:][^ ]*$|[^ ]*Error$)");
  return kEnough.match(text, 0).has_value();
}

Titled masked(std::string_view text, const Rules& rules, std::vector<std::string_view> why) {
  std::string title;
  for (size_t i = 0; i < text.size();) {
    ShapeMatch match;
    const Mask* mask = mask_at(rules, text, i, match);
    if (mask == nullptr) {
      if (!is_quote(text, i)) title += text[i];
      ++i;
      continue;
    }
    if (std::find(why.begin(), why.end(), mask->name) == why.end()) why.push_back(mask->name);
    const std::string_view inner =
        text.substr(match.inner_begin, match.inner_end - match.inner_begin);
    if (mask->ends_the_title) {
      if (!mask->stand_in.empty()) title += inner;
      break;
    }
    const size_t hole = mask->stand_in.find('@');
    if (hole == std::string_view::npos) {
      put(title, mask->stand_in);
    } else {
      title += mask->stand_in.substr(0, hole);
      title += inner;
      title += mask->stand_in.substr(hole + 1);
    }
    i = match.end;
  }
  title = first_words(without_loose_ends(std::move(title)));
  shorten(title, kLongestTitle);
  title = without_loose_ends(std::move(title));
  if (std::none_of(title.begin(), title.end(), [](char c) { return word(c) || foreign(c); })) {
    if (std::string lost = lost_text(text); !lost.empty()) title = std::move(lost);
  }
  return {std::move(title), std::move(why)};
}

}  // namespace

Titled title_of(std::string_view message, const Rules& rules) {
  return masked(without_chip(decisive_lines(message)), rules, {});
}

Titled title_behind_leads(std::string_view message, const Rules& rules) {
  const std::string text = without_chip(decisive_lines(message));
  std::vector<std::string_view> why;
  size_t begin = 0;
  for (bool found = true; found;) {
    found = false;
    for (const Mask& lead : rules.leads) {
      const auto match = lead.shape.match(text, begin);
      if (!match) continue;
      const bool inner = match->inner_begin > begin;
      const size_t next = inner ? match->inner_begin : match->end;
      if (next == begin || !says_enough(std::string_view(text).substr(next))) continue;
      begin = next;
      why.push_back(lead.name);
      found = true;
      break;
    }
  }
  return masked(std::string_view(text).substr(begin), rules, std::move(why));
}

}  // namespace mpsprobe
