#include "reports/words/counted.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mpsprobe {

std::string counted(int64_t count, std::string_view plural) {
  if (count != 1 || plural == "series") return fmt::format("{} {}", count, plural);
  if (plural.starts_with("kinds ")) return fmt::format("1 kind{}", plural.substr(5));
  if (plural.ends_with("ies")) return fmt::format("1 {}y", plural.substr(0, plural.size() - 3));
  const bool es = plural == "processes";
  return fmt::format("1 {}", plural.substr(0, plural.size() - (es ? 2 : 1)));
}

std::string some_of(const std::vector<std::string>& items, size_t most,
                    std::string_view separator) {
  std::string text;
  for (size_t i = 0; i < std::min(items.size(), most); ++i) {
    text += (i == 0 ? "" : std::string(separator)) + items[i];
  }
  if (items.size() > most) text += fmt::format("{}{} more", separator, items.size() - most);
  return text;
}

std::string duration_in_words(double seconds) {
  const long whole = std::lround(std::clamp(seconds, 0.0, 1e12));
  if (seconds < 10) return fmt::format("{:.1f} s", std::max(0.0, seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole % 3600 / 60);
}

}  // namespace mpsprobe
