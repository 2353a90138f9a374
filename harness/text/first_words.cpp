#include "harness/text/first_words.h"

#include <algorithm>
#include <iterator>

#include "harness/text/ascii.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostWords = 6;

constexpr std::string_view kLeadingOn[] = {
    "a",    "an",   "and",   "are",   "as",    "at",    "be",   "because", "been",
    "but",  "by",   "can",   "could", "did",   "do",    "does", "due",     "during",
    "for",  "from", "had",   "has",   "have",  "if",    "in",   "into",    "is",
    "it",   "its",  "may",   "must",  "of",    "on",    "or",   "should",  "so",
    "than", "that", "the",   "their", "then",  "there", "this", "to",      "was",
    "were", "when", "where", "which", "while", "will",  "with", "would"};

bool names_something(std::string_view token) {
  const auto letters = std::count_if(token.begin(), token.end(),
                                     [](char c) { return ascii::upper(c) || ascii::lower(c); });
  return letters > 1 && !token.ends_with(':') && !leads_on(token);
}

}  // namespace

bool leads_on(std::string_view token) {
  return std::find(std::begin(kLeadingOn), std::end(kLeadingOn), token) != std::end(kLeadingOn);
}

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

}  // namespace mpsprobe
