#include "reports/analysis/busy_time.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <optional>
#include <string>

namespace mpsprobe {
namespace {

constexpr double kLongest = 1e7;  // seconds; a trial is ended long before

// Seconds since 1970 of "2026-01-31T12:34:56.789Z".
std::optional<double> seconds_of(std::string_view utc) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int hour = 0;
  int minute = 0;
  double second = 0;
  const std::string text(utc.substr(0, 40));
  if (std::sscanf(text.c_str(), "%4d-%2u-%2uT%2d:%2d:%lf", &year, &month, &day, &hour, &minute,
                  &second) != 6) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!date.ok() || !std::isfinite(second)) return std::nullopt;
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return static_cast<double>(days) * 86400 + hour * 3600 + minute * 60 + second;
}

}  // namespace

void BusyTime::add(std::string_view started, double seconds) {
  const std::optional<double> from = seconds_of(started);
  if (!from || !(seconds > 0 && seconds < kLongest)) return;
  double begin = *from;
  double end = begin + seconds;
  auto at = spans_.upper_bound(begin);
  if (at != spans_.begin() && std::prev(at)->second >= begin) --at;
  while (at != spans_.end() && at->first <= end) {
    begin = std::min(begin, at->first);
    end = std::max(end, at->second);
    at = spans_.erase(at);
  }
  spans_.emplace(begin, end);
}

double BusyTime::seconds() const {
  double total = 0;
  for (const auto& [begin, end] : spans_) total += end - begin;
  return total;
}

}  // namespace mpsprobe
