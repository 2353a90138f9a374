#include "harness/text/brackets.h"

#include <algorithm>

#include "harness/text/ascii.h"

namespace mpsprobe {
namespace {

constexpr auto npos = std::string_view::npos;
constexpr size_t kLongestHeading = 80;

bool opens(char c) {
  return c == '(' || c == '[' || c == '{';
}
bool closes(char c) {
  return c == ')' || c == ']' || c == '}';
}

// Where the first bracket stands that closes more than was opened. Kinds are not told apart:
// intervals mix them.
size_t first_unopened(std::string_view text) {
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (opens(text[i])) ++depth;
    if (!closes(text[i])) continue;
    if (depth == 0) return i;
    --depth;
  }
  return npos;
}

// Where the bracket in front of all is closed.
size_t partner(std::string_view text) {
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (opens(text[i])) ++depth;
    if (closes(text[i]) && --depth == 0) return i;
  }
  return npos;
}

// "words] rest" as "words: rest", or nothing where the words are no heading.
std::string heading(std::string_view words, std::string_view rest) {
  // One space parts an Objective-C message's receiver and selector.
  const bool several = std::count(words.begin(), words.end(), ' ') >= 2 &&
                       words.find_first_of("[]") == npos && words.find("->") == npos;
  if (!several || words.size() > kLongestHeading || ascii::at(rest, 0) != ' ') return "";
  return std::string(words) + ":" + std::string(rest);
}

}  // namespace

std::string without_lone_brackets(std::string_view text) {
  if (const size_t lone = first_unopened(text); lone != npos) {
    if (lone + 1 == text.size()) return std::string(text.substr(0, lone));
    if (text[lone] != ']') return std::string(text);
    if (std::string whole = heading(text.substr(0, lone), text.substr(lone + 1)); !whole.empty()) {
      return whole;
    }
    return std::string(text);
  }
  if (text.empty() || !opens(text[0])) return std::string(text);
  const size_t close = partner(text);
  if (close == npos) return std::string(text.substr(1));
  if (text[0] == '[') {
    std::string whole = heading(text.substr(1, close - 1), text.substr(close + 1));
    if (!whole.empty()) return whole;
  }
  return std::string(text);
}

}  // namespace mpsprobe
