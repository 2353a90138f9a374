#include "harness/text/terminal_escape.h"

#include <algorithm>

namespace mpsprobe {
namespace {

constexpr char kEscape = '\x1b';
// Strings inside a terminal escape (a window title, a link) that go on for longer are no escape.
constexpr size_t kLongestEscape = 512;

}  // namespace

size_t terminal_escape_length(std::string_view text, size_t at) {
  if (at + 1 >= text.size()) return 1;
  const char kind = text[at + 1];
  const size_t stop = std::min(text.size(), at + kLongestEscape);
  if (kind == '[') {
    size_t i = at + 2;
    while (i < stop && text[i] >= 0x20 && text[i] <= 0x3f) ++i;
    const bool ended = i < stop && text[i] >= 0x40 && text[i] <= 0x7e;
    return ended ? i + 1 - at : 2;
  }
  if (kind == ']' || kind == 'P' || kind == '^' || kind == '_' || kind == 'X') {
    for (size_t i = at + 2; i < stop; ++i) {
      if (text[i] == '\a') return i + 1 - at;
      if (text[i] == kEscape) return i - at + (i + 1 < text.size() && text[i + 1] == '\\' ? 2 : 0);
      if (text[i] == '\n') break;  // a real one holds none: do not swallow the next line
    }
    return 2;
  }
  return kind >= 0x20 && kind <= 0x7e ? 2 : 1;
}

}  // namespace mpsprobe
