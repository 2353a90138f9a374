#include "harness/outcome/gtest_story.h"

#include <algorithm>

namespace mpsprobe {
namespace {

constexpr size_t kMostText = 256 << 10;
constexpr size_t kMostMessage = 1024;
constexpr auto npos = std::string_view::npos;

// Without indentation and end.
std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line;
}

// "[  FAILED  ] Pool.Takes (0 ms)", "[ RUN      ] Pool.Takes", "[----------] 1 test from Pool"
bool is_bookkeeping(std::string_view line) {
  constexpr size_t kWidth = 12;
  return line.size() >= kWidth && line[0] == '[' && line[kWidth - 1] == ']' &&
         line.find_first_not_of("-= ABCDEFGHIJKLMNOPQRSTUVWXYZ", 1) == kWidth - 1;
}

// Up to the last column of a terminal.
bool is_full(std::string_view line) {
  const auto columns = std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  });
  return columns == 72 || columns == 80;
}

// GoogleTest's own quotes, whatever a page made of them.
std::string_view without_quotes(std::string_view text) {
  text = text.substr(0, text.find(" thrown in "));
  const auto quote = [](char c) { return c == '"' || static_cast<unsigned char>(c) >= 0x80; };
  while (!text.empty() && quote(text.front())) text.remove_prefix(1);
  while (!text.empty() && quote(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string failed_gtest(std::string_view printed) {
  constexpr std::string_view kThrown = "exception with description ";
  std::string_view text = printed.substr(0, kMostText);
  if (text.find("[  FAILED  ] ") == npos) return "";
  bool failed = false;
  std::string message;
  while (!text.empty() && message.size() < kMostMessage) {
    const std::string_view line = take_line(text);
    if (const size_t thrown = line.find(kThrown); thrown != npos) {
      std::string told(line.substr(thrown + kThrown.size(), kMostMessage));
      // A terminal broke it, and may have done so at its end.
      if (is_full(line)) told += take_line(text).substr(0, kMostMessage);
      return std::string(without_quotes(told));
    }
    if (failed && (line.empty() || is_bookkeeping(line))) break;
    // What FAIL() << "no lane" begins with.
    if (failed && message.empty() && line == "Failed") continue;
    if (failed) {
      message += message.empty() ? "" : " ";
      message += line.substr(0, kMostMessage);
    }
    failed = failed || line.ends_with(": Failure");
  }
  return message;
}

}  // namespace mpsprobe
