#include "harness/crash_report/report_value.h"

#include <charconv>
#include <ctime>
#include <regex>

#include "harness/signature/shape.h"
#include "harness/wire/ascii.h"
#include "harness/wire/split.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostDigits = 64;  // of an image's id

/// A quotation was opened in `text`, as in "failed assertion `x'", and not closed.
bool is_unfinished(std::string_view text) {
  const size_t backquote = text.rfind('`');
  if (backquote != std::string_view::npos) {
    return text.find('\'', backquote) == std::string_view::npos;
  }
  constexpr std::string_view kReason = "reason: '";
  const size_t reason = text.rfind(kReason);
  return reason != std::string_view::npos &&
         text.find('\'', reason + kReason.size()) == std::string_view::npos;
}

}  // namespace

double report_time(std::string_view text) {
  static const std::regex kForm(
      R"((\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(\.\d+)? ?(?:Z|([-+])(\d\d):?(\d\d)))");
  constexpr size_t kLongest = 64;
  text = trimmed(text);
  std::match_results<std::string_view::iterator> found;
  if (text.size() > kLongest || !std::regex_match(text.begin(), text.end(), found, kForm)) return 0;
  const auto number = [&found](size_t group) {
    return found[group].matched ? std::stoi(found[group].str()) : 0;
  };
  std::tm time{};
  time.tm_year = number(1) - 1900;
  time.tm_mon = number(2) - 1;
  time.tm_mday = number(3);
  time.tm_hour = number(4);
  time.tm_min = number(5);
  time.tm_sec = number(6);
  const bool possible = time.tm_year >= 70 && time.tm_mon >= 0 && time.tm_mon < 12 &&
                        time.tm_mday >= 1 && time.tm_mday <= 31 && time.tm_hour < 24 &&
                        time.tm_min < 60 && time.tm_sec <= 60 && number(9) <= 14 && number(10) < 60;
  if (!possible) return 0;
  const int zone = (number(9) * 60 + number(10)) * (found[8] == "-" ? -60 : 60);
  const double fraction = found[7].matched ? std::stod("0" + found[7].str()) : 0;
  return static_cast<double>(timegm(&time) - zone) + fraction;
}

std::string report_image_id(std::string_view text) {
  std::string id;
  for (char c : trimmed(text)) {
    if (c != '-') id += ascii::to_lower(c);
  }
  const bool hex = id.find_first_not_of("0123456789abcdef") == std::string::npos;
  const bool any = id.find_first_not_of('0') != std::string::npos;
  return hex && any && id.size() <= kMostDigits ? id : "";
}

std::string report_file_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return report_text(slash == std::string_view::npos ? path : path.substr(slash + 1),
                     report_limits::kMostNameBytes);
}

std::optional<uint64_t> report_number(std::string_view text) {
  text = trimmed(text);
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, hex ? 16 : 10);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

bool marks_stack_guard(std::string_view table) {
  // "--->  STACK GUARD  16f2d0000-16f2d4000 [   16K] ---/rwx SM=NUL  stack guard for thread 1"
  static const Shape kMarked("[ \\t]*--+>[^\\n]*(?i:stack guard)");
  bool marks = false;
  each_line(table, [&](std::string_view line) { marks = marks || kMarked.match(line, 0); });
  return marks;
}

std::string report_text(std::string_view text, size_t most) {
  size_t size = text.size();
  if (size > most) {
    size = most;
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  }
  return std::string(text.substr(0, size));
}

std::vector<std::string> join_split_texts(const std::vector<std::string>& entries) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < entries.size(); ++i) {
    std::string text = entries[i];
    while (i + 1 < entries.size() && is_unfinished(text)) {
      const std::string& next = entries[++i];
      const bool parted = text.ends_with(' ') || text.ends_with('\n') || next.starts_with(' ') ||
                          next.starts_with('\n');
      text += (parted ? "" : "\n") + next;
    }
    texts.push_back(report_text(trimmed(text)));
  }
  return texts;
}

}  // namespace mpsprobe
