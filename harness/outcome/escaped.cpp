#include "harness/outcome/escaped.h"

#include <algorithm>
#include <iterator>

#include "harness/outcome/ascii.h"

namespace mpsprobe {
namespace {

struct Spelling {
  std::string_view text;
  char character;
};

constexpr Spelling kEntities[] = {
    {"&quot;", '\''}, {"&apos;", '\''}, {"&#39;", '\''},   {"&#039;", '\''}, {"&#x27;", '\''},
    {"&#34;", '\''},  {"&#x22;", '\''}, {"&#96;", '\''},   {"&lt;", '<'},    {"&gt;", '>'},
    {"&amp;", '&'},   {"&nbsp;", ' '},  {"\\u0022", '\''}, {"\\u0027", '\''}};

constexpr std::string_view kEscapes[] = {"\\u001b[", "\\u001B[", "\\x1b[",
                                         "\\x1B[",   "\\033[",   "^[["};

// "\u001b[1;31m", whose letter only colours end with.
size_t colour_length(std::string_view text) {
  constexpr size_t kLongest = 16;
  for (std::string_view escape : kEscapes) {
    if (!text.starts_with(escape)) continue;
    const size_t end =
        text.substr(0, escape.size() + kLongest).find_first_not_of("0123456789;", escape.size());
    return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
  }
  return 0;
}

}  // namespace

Escaped escaped_at(std::string_view text) {
  const char first = ascii::at(text, 0);
  if (first != '&' && first != '\\' && first != '^') return {};
  for (const Spelling& entity : kEntities) {
    if (text.starts_with(entity.text)) return {entity.text.size(), entity.character};
  }
  const char next = ascii::at(text, 1);
  if (first == '\\' && (next == '"' || next == '\'' || next == '`')) return {2, '\''};
  return {colour_length(text), '\0'};
}

bool is_written_break(std::string_view text, size_t at) {
  const char kind = ascii::at(text, at + 1);
  return ascii::at(text, at) == '\\' && (kind == 'n' || kind == 'r') &&
         !ascii::lower(ascii::at(text, at + 2));
}

}  // namespace mpsprobe
