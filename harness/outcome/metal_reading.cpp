#include "harness/outcome/metal_reading.h"

#include <algorithm>
#include <string>

#include "harness/outcome/patterns.h"
#include "harness/text/ascii.h"

namespace mpsprobe {
namespace {

// "-[Class method:]" that ends just before `end`, or nothing.
std::string_view method_before(const Reader& reader, size_t end) {
  const size_t limit = end > kLookBack ? end - kLookBack : 0;
  const std::string_view before = reader.slice(limit, end);
  const size_t close = before.rfind(']');
  const size_t open = before.rfind('[', close);
  if (close == std::string_view::npos || open == std::string_view::npos || open == 0) return {};
  if (before[open - 1] != '-' && before[open - 1] != '+') return {};
  return before.substr(open - 1, close + 1 - (open - 1));
}

// How much of what a log puts in front of each line stands again at `at`: the line of `line` has it
// as well, but for its numbers.
size_t repeated_prefix(const Reader& reader, size_t line, size_t at) {
  const std::string_view first = reader.slice(line, reader.stop);
  const std::string_view again = reader.slice(at, reader.stop);
  size_t end = 0;
  for (size_t i = 0; i < std::min({first.size(), again.size(), kLookBack}); ++i) {
    const bool same = first[i] == again[i] || (ascii::digit(first[i]) && ascii::digit(again[i]));
    if (!same) break;
    if (first[i] == ' ') end = i + 1;
  }
  return end;
}

// Metal's validation layer: a heading, then one line for each thing that is wrong, of which the
// first is decisive. Reports cut the others, break them, or put all on one line.
std::optional<ReadText> read_validation(const Reader& reader, const Match& match, size_t begin) {
  constexpr std::string_view kHeading = "Validation";
  constexpr size_t kLongestHeading = 80;
  const size_t heading = reader.slice(begin, begin + kLongestHeading).find(kHeading);
  const size_t line = reader.line_end(begin);
  if (heading == std::string_view::npos || begin + heading >= line) return std::nullopt;
  const size_t head_end = begin + heading + kHeading.size();
  if (head_end < line && reader.text()[head_end] != ' ') return std::nullopt;
  size_t from = head_end + 1;
  if (head_end == line) from += repeated_prefix(reader, reader.line_begin(match.begin), from);
  size_t end = from;
  while (end < reader.stop) {
    end = reader.line_end(end);
    const size_t sentence = reader.slice(from, end).find(". ");
    if (sentence != std::string_view::npos) {
      end = from + sentence;
      break;
    }
    // It goes on where the next line begins in the middle of a sentence.
    const char last = end > 0 ? reader.text()[end - 1] : '.';
    const bool over = last == '.' || last == '\'' || end + 1 >= reader.stop;
    if (over || !ascii::lower(reader.text()[end + 1])) break;
    ++end;
  }
  end = std::min(end, reader.stop);
  // Releases without the heading print the same line: it is no part of the message.
  const std::string_view message = reader.slice(from, end);
  return ReadText{std::string(message.empty() ? reader.slice(begin, head_end) : message),
                  std::max(end, head_end)};
}

// Whether "-[Class method:]:78: " or "File.mm:78: " stands in front.
bool behind_metals_place(const Reader& reader, size_t end) {
  const size_t limit = end > kLookBack ? end - kLookBack : 0;
  std::string_view before = reader.slice(limit, end);
  while (before.ends_with(' ')) before.remove_suffix(1);
  if (!before.ends_with(':')) return false;
  before.remove_suffix(1);
  const size_t digits = before.find_last_not_of("0123456789");
  if (digits == std::string_view::npos || digits + 1 == before.size()) return false;
  before = before.substr(0, digits + 1);
  return before.ends_with("]:") || before.ends_with(".mm:");
}

}  // namespace

std::optional<ReadText> read_quoted(const Reader& reader, const Match& match) {
  const size_t after = match.end + 1;  // past the space
  const bool quoted = reader.slice(match.end, reader.stop).starts_with(" '");
  size_t begin = quoted ? after + 1 : after;
  if (quoted) {
    if (std::optional<ReadText> validation = read_validation(reader, match, begin)) {
      return validation;
    }
  }
  size_t end = quoted ? reader.closing_quote(begin) : reader.find(" at line ", match.end);
  const size_t line = reader.line_end(std::min(begin, reader.stop));
  if (!quoted && end != std::string_view::npos && end > line) end = std::string_view::npos;
  if (end == std::string_view::npos && quoted) end = line;
  if (end != std::string_view::npos && end > begin) {
    const std::string_view message = reader.slice(begin, end);
    if (message.starts_with('%')) return std::nullopt;
    if (message != "<private>") return ReadText{std::string(message), end};
  }
  // Metal's own form, whose quotes were lost.
  if (!quoted && line > begin && ascii::word(reader.text()[begin]) &&
      behind_metals_place(reader, match.begin)) {
    return ReadText{std::string(reader.slice(begin, line)), line};
  }
  const bool bracket = match.pattern->fragments[0].starts_with(']');
  const std::string_view method = method_before(reader, match.begin + (bracket ? 1 : 0));
  if (method.empty()) return std::nullopt;
  return ReadText{"in " + std::string(method), match.end};
}

}  // namespace mpsprobe
