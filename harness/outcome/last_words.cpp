#include "harness/outcome/last_words.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "harness/outcome/ascii.h"
#include "harness/outcome/diagnosis.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostBytes = 64 << 10;
constexpr size_t kMostLine = 1024;

/// What a line that tells of trouble holds, in lower case: the words of programs that end
/// themselves, not those of one bug.
constexpr std::array<std::string_view, 30> kTrouble{
    "error",     "fail",          "assert",    "fatal",         "abort",       "panic",
    "exception", "corrupt",       "invalid",   "illegal",       "unreachable", "terminat",
    "cannot",    "can't",         "could not", "unable to",     "must not",    "not loaded",
    "not found", "not supported", "no such",   "unimplemented", "larger than", "greater than",
    "exceed",    "out of memory", "overflow",  "mismatch",      "refused",     "denied"};

std::string_view trimmed(std::string_view line) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!line.empty() && blank(line.front())) line.remove_prefix(1);
  while (!line.empty() && blank(line.back())) line.remove_suffix(1);
  return line;
}

/// Without what a log puts in front: "2025-03-01 12:00:00.123+0100 ", "name[12:34] ", "name(12,0x3)
/// ".
std::string_view without_log_prefix(std::string_view line) {
  for (;;) {
    const std::string_view token = line.substr(0, line.find(' '));
    const bool numbers = token.find_first_not_of("0123456789-:.,+/|[]()TZ") == token.npos &&
                         token.find_first_of("0123456789") != token.npos;
    const size_t open = token.find_first_of("[(");
    const bool process = open != token.npos && open > 0 &&
                         (token.back() == ']' || token.back() == ')') && open + 1 < token.size() &&
                         ascii::digit(token[open + 1]);
    if ((!numbers && !process) || token.size() == line.size()) return line;
    line.remove_prefix(token.size() + 1);
  }
}

/// "#3 0x...", "3   libtorch ...", "/lib/libc.so.6(+0x777e5)[0x7fc6]", "  File "x.py", line 3".
bool is_frame(std::string_view line) {
  if (line.starts_with('#') || line.starts_with("0x") || line.starts_with("frame #")) return true;
  if (line.starts_with("at ") || line.starts_with("File \"")) return true;
  if (line.ends_with(']') && line.find("[0x") != std::string_view::npos) return true;
  const auto end = std::find_if_not(line.begin(), line.end(), ascii::digit);
  return end != line.begin() && end != line.end() && *end == ' ';
}

bool tells_of_trouble(std::string_view line) {
  std::string lower(line.substr(0, kMostLine));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::any_of(kTrouble.begin(), kTrouble.end(), [&lower](std::string_view word) {
    return lower.find(word) != std::string::npos;
  });
}

}  // namespace

std::string last_words(std::string_view text) {
  if (text.size() > kMostBytes) text.remove_prefix(text.size() - kMostBytes);
  std::string_view words;
  // From the end: the paragraph is over at an empty line above what was found.
  while (!text.empty()) {
    const size_t newline = text.find_last_of('\n', text.size() - 1);
    const bool whole = newline == std::string_view::npos;
    const std::string_view line = trimmed(whole ? text : text.substr(newline + 1));
    text = whole ? std::string_view() : text.substr(0, newline);
    if (line.empty() && !words.empty()) break;
    if (is_frame(line) || line.starts_with("mpsprobe")) continue;
    if (tells_of_trouble(line)) words = line;
  }
  return words.empty() ? "" : normalise_title(without_log_prefix(words));
}

}  // namespace mpsprobe
