#include "tools/signatures/pastes/as_written.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "harness/signature/plain_text.h"
#include "tools/signatures/pastes/common_mark.h"
#include "tools/signatures/pastes/escaped.h"
#include "tools/signatures/pastes/line_end.h"
#include "tools/signatures/pastes/line_opening.h"
#include "tools/signatures/pastes/log_prefix.h"
#include "tools/signatures/pastes/unwrap.h"

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

// What pages and quotations in other languages write in place of a character.
std::string unescaped(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    if (const char space = written_space(text, i); space != '\0') {
      result += space;
      i += 2;
    } else if (const Escaped escaped = escaped_at(text.substr(i)); escaped.length > 0) {
      if (escaped.character != '\0') result += escaped.character;
      i += escaped.length;
    } else {
      result += text[i++];
    }
  }
  return result;
}

// Whether a line was broken to fit a page, and goes on with `next`: it is long, does not end a
// sentence or a banner, and `next` begins in lower case, and not like a line of its own. Or what
// stands in brackets goes on.
bool goes_on(std::string_view line, std::string_view next) {
  constexpr size_t kShortest = 60;
  const size_t indent = std::min(next.find_first_not_of(" \t"), next.size());
  if (line.empty() || indent == next.size()) return false;
  const auto open = [](std::string_view text) {
    return std::count(text.begin(), text.end(), '(') - std::count(text.begin(), text.end(), ')');
  };
  if (indent > 0 && line.size() < kShortest && (open(line) > 0 || next[indent] == '(') &&
      open(line) + open(next) == 0 && next.find("(null)") == std::string_view::npos) {
    return true;
  }
  next.remove_prefix(indent);
  const std::string_view word = next.substr(0, next.find(' '));
  return line.size() >= kShortest &&
         std::string_view(".!?:;)}]'=*\"").find(line.back()) == line.npos && !begins_a_line(next) &&
         word[0] >= 'a' && word[0] <= 'z' && word.find_first_of("/[(") == word.npos &&
         !next.substr(word.size()).starts_with(" = ");
}

std::string with_whole_lines(std::string_view text) {
  std::string result;
  std::string_view before;
  for (const std::string_view line : lines_of(text)) {
    const bool joined = goes_on(before, line);
    if (line.data() != text.data()) result += joined ? ' ' : '\n';
    result += joined ? line.substr(line.find_first_not_of(" \t")) : line;
    before = line;
  }
  return result;
}

// Without what a log puts in front of every line. The indentation behind it stays.
std::string without_logs(std::string_view text) {
  std::string result;
  for (const std::string_view line : lines_of(text)) {
    const size_t prefix = log_prefix_length(line);
    const size_t last = line.substr(0, prefix).find_last_not_of(" \t");
    const size_t log = last == std::string_view::npos ? 0 : last + 1;
    if (line.data() != text.data()) result += '\n';
    result += line.substr(log == 0 ? 0 : std::min(log + 1, prefix));
  }
  return result;
}

}  // namespace

std::string as_written(std::string_view text) {
  const std::string plain = without_escapes(text);
  std::vector<std::string_view> lines = lines_of(plain);
  drop_doubled_breaks(lines);
  drop_common_mark(lines);
  return unwrap(lines);
}

std::string printed_text(std::string_view pasted) {
  return with_whole_lines(without_logs(as_written(unescaped(pasted))));
}

}  // namespace mpsprobe
