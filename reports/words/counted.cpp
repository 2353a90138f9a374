#include "reports/words/counted.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

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
  std::vector<std::string> some(
      items.begin(), items.begin() + static_cast<std::ptrdiff_t>(std::min(items.size(), most)));
  if (items.size() > most) some.push_back(fmt::format("{} more", items.size() - most));
  return fmt::format("{}", fmt::join(some, separator));
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::vector<std::string_view> told;
  std::copy_if(parts.begin(), parts.end(), std::back_inserter(told),
               [](const std::string& part) { return !part.empty(); });
  return fmt::format("{}", fmt::join(told, separator));
}

std::vector<std::pair<int, int>> runs_of(std::vector<int> numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::vector<std::pair<int, int>> runs;
  for (const int number : numbers) {
    if (!runs.empty() && number == runs.back().second + 1) {
      runs.back().second = number;
    } else {
      runs.emplace_back(number, number);
    }
  }
  return runs;
}

std::string duration_in_words(double seconds) {
  const long whole = std::lround(std::clamp(seconds, 0.0, 1e12));
  if (seconds < 10) return fmt::format("{:.1f} s", std::max(0.0, seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole % 3600 / 60);
}

}  // namespace mpsprobe
