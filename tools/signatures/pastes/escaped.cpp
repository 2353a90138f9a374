#include "tools/signatures/pastes/escaped.h"

#include "harness/signature/ascii.h"

namespace mpsprobe {
namespace {

struct Spelling {
  std::string_view text;
  char character;
};

constexpr Spelling kEntities[] = {
    {"&quot;", '\''}, {"&apos;", '\''},  {"&#39;", '\''},    {"&#039;", '\''}, {"&#x27;", '\''},
    {"&#34;", '\''},  {"&#x22;", '\''},  {"&#96;", '\''},    {"&lt;", '<'},    {"&gt;", '>'},
    {"<br>", ' '},    {"<br/>", ' '},    {"<br />", ' '},    {"<pre>", ' '},   {"<code>", ' '},
    {"</p>", ' '},    {"</pre>", ' '},   {"</code>", ' '},   {"</li>", ' '},   {"</td>", ' '},
    {"</div>", ' '},  {"</b>", ' '},     {"</strong>", ' '}, {"</span>", ' '}, {"&amp;", '&'},
    {"&nbsp;", ' '},  {"\\u0022", '\''}, {"\\u0027", '\''}};

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

// Whether the word that `before` ends with is the beginning of a path: a drive, or folders that
// begin with what is no escape.
bool in_windows_path(std::string_view before) {
  constexpr size_t kLongest = 64;
  if (before.size() > kLongest) before.remove_prefix(before.size() - kLongest);
  before = before.substr(before.find_last_of(" '\"(\n") + 1);  // npos + 1 is 0
  if (ascii::at(before, 1) == ':') return true;
  for (size_t i = before.find('\\'); i != before.npos; i = before.find('\\', i + 1)) {
    if (std::string_view("nrt").find(ascii::at(before, i + 1)) == before.npos) return true;
  }
  return false;
}

}  // namespace

Escaped escaped_at(std::string_view text) {
  const char first = ascii::at(text, 0);
  if (first != '&' && first != '\\' && first != '^' && first != '<') return {};
  for (const Spelling& entity : kEntities) {
    if (text.starts_with(entity.text)) return {entity.text.size(), entity.character};
  }
  const char next = ascii::at(text, 1);
  if (first == '\\' && (next == '"' || next == '\'' || next == '`')) return {2, '\''};
  return {colour_length(text), '\0'};
}

char written_space(std::string_view text, size_t at) {
  const char kind = ascii::at(text, at + 1);
  if (ascii::at(text, at) != '\\' || (kind != 'n' && kind != 'r' && kind != 't')) return '\0';
  if (ascii::lower(ascii::at(text, at + 2)) && in_windows_path(text.substr(0, at))) return '\0';
  return kind == 't' ? ' ' : '\n';
}

}  // namespace mpsprobe
