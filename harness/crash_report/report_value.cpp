#include "harness/crash_report/report_value.h"

#include <charconv>

namespace mpsprobe {
namespace {

/// Reads a text from its front.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool done() const { return text_.empty(); }
  bool skip(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  /// Exactly `count` digits, into `value`.
  bool digits(size_t count, int64_t& value) {
    if (text_.size() < count) return false;
    value = 0;
    for (size_t i = 0; i < count; ++i) {
      if (text_[i] < '0' || text_[i] > '9') return false;
      value = value * 10 + (text_[i] - '0');
    }
    text_.remove_prefix(count);
    return true;
  }
  /// ".1234" as 0.1234; digits beyond the ninth are read and mean nothing.
  bool fraction(double& value) {
    if (!skip('.')) return true;
    double weight = 0.1;
    size_t count = 0;
    for (; !text_.empty() && text_.front() >= '0' && text_.front() <= '9'; ++count) {
      if (count < 9) value += weight * (text_.front() - '0');
      weight /= 10;
      text_.remove_prefix(1);
    }
    return count > 0;
  }
  /// "+0100", "-08:00" or "Z", as seconds east of Greenwich.
  bool zone(int64_t& seconds) {
    if (skip('Z')) return true;
    const bool west = !text_.empty() && text_.front() == '-';
    int64_t hours = 0;
    int64_t minutes = 0;
    if (!skip('-') && !skip('+')) return false;
    if (!digits(2, hours)) return false;
    skip(':');
    if (!digits(2, minutes) || hours > 14 || minutes > 59) return false;
    seconds = (hours * 60 + minutes) * (west ? -60 : 60);
    return true;
  }

 private:
  std::string_view text_;
};

int64_t days_from_civil(int64_t year, int64_t month, int64_t day) {
  if (month <= 2) --year;
  const int64_t era = year / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

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
  Scanner scanner(trimmed(text));
  int64_t year = 0;
  int64_t month = 0;
  int64_t day = 0;
  if (!scanner.digits(4, year) || !scanner.skip('-') || !scanner.digits(2, month) ||
      !scanner.skip('-') || !scanner.digits(2, day)) {
    return 0;
  }
  if (!scanner.skip(' ') && !scanner.skip('T')) return 0;
  int64_t hour = 0;
  int64_t minute = 0;
  int64_t second = 0;
  if (!scanner.digits(2, hour) || !scanner.skip(':') || !scanner.digits(2, minute) ||
      !scanner.skip(':') || !scanner.digits(2, second)) {
    return 0;
  }
  double fraction = 0;
  if (!scanner.fraction(fraction)) return 0;
  scanner.skip(' ');
  int64_t zone = 0;
  if (!scanner.zone(zone) || !scanner.done()) return 0;
  if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 ||
      second > 60) {
    return 0;
  }
  const int64_t whole =
      days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - zone;
  return static_cast<double>(whole) + fraction;
}

std::string report_image_id(std::string_view text) {
  std::string id;
  bool any = false;
  for (char c : trimmed(text)) {
    if (c == '-') continue;
    if (!is_hex(c) || id.size() >= 64) return "";
    id += c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    any = any || c != '0';
  }
  return any ? id : "";
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
  while (!table.empty()) {
    const size_t end = table.find('\n');
    const std::string_view line = trimmed(table.substr(0, end));
    table.remove_prefix(end == std::string_view::npos ? table.size() : end + 1);
    // "--->  STACK GUARD  16f2d0000-16f2d4000 [   16K] ---/rwx SM=NUL  stack guard for thread 1"
    const bool marked = line.starts_with("--->") || line.starts_with("-->");
    for (std::string_view words : {"STACK GUARD", "Stack Guard", "stack guard"}) {
      if (marked && line.find(words) != std::string_view::npos) return true;
    }
  }
  return false;
}

std::string report_text(std::string_view text, size_t most) {
  size_t size = text.size();
  if (size > most) {
    size = most;
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  }
  return std::string(text.substr(0, size));
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
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
