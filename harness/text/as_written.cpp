#include "harness/text/as_written.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "harness/text/common_mark.h"
#include "harness/text/line_end.h"
#include "harness/text/terminal_escape.h"
#include "harness/text/unwrap.h"

namespace mpsprobe {
namespace {

std::string without_escapes(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '\x1b') {
      i += terminal_escape_length(text, i);
    } else {
      result += text[i++];
    }
  }
  return result;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    while (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    begin = end + 1;
  }
  return lines;
}

// Where no line stands right under another one, the empty lines between them came in on the way.
void drop_doubled_breaks(std::vector<std::string_view>& lines) {
  constexpr size_t kFewest = 3;
  size_t full = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (without_end(lines[i]).empty()) continue;
    ++full;
    if (i + 1 < lines.size() && !without_end(lines[i + 1]).empty()) return;
  }
  if (full < kFewest) return;
  std::vector<std::string_view> kept;
  size_t empty = 0;
  for (const std::string_view line : lines) {
    if (!without_end(line).empty()) {
      kept.push_back(line);
      empty = 0;
    } else if (++empty % 2 == 0) {
      kept.push_back(line);
    }
  }
  lines = std::move(kept);
}

}  // namespace

std::string as_written(std::string_view text) {
  const std::string plain = without_escapes(text);
  std::vector<std::string_view> lines = lines_of(plain);
  drop_doubled_breaks(lines);
  drop_common_mark(lines);
  return unwrap(lines);
}

}  // namespace mpsprobe
