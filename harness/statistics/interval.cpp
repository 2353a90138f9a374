#include "harness/statistics/interval.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace mpsprobe {
namespace {

constexpr double kEachSide = 0.025;

// Beyond 1% and 99%, whole percents would say "0%" or "100%", which no number of trials can show.
std::string percent(double rate, bool up) {
  // Without the nudge, 0.26 * 100 = 26.000000000000004 would be rounded up to 27.
  const auto rounded = [up](double value) {
    return up ? std::ceil(value - 1e-9) : std::floor(value + 1e-9);
  };
  const double hundreds = std::clamp(rate, 0.0, 1.0) * 100;
  if ((hundreds > 0 && hundreds < 1) || (hundreds > 99 && hundreds < 100)) {
    return fmt::format("{:.1f}%", rounded(hundreds * 10) / 10);
  }
  return fmt::format("{:.0f}%", std::fabs(rounded(hundreds)));
}

}  // namespace

void check_count(int failures, int trials) {
  if (failures >= 0 && failures <= trials) return;
  throw std::invalid_argument(
      fmt::format("{} failures in {} trials is no count of trials", failures, trials));
}

Interval exact_interval(int failures, int trials, int64_t together) {
  if (together <= 0) throw std::invalid_argument("no cells");
  check_count(failures, trials);
  using Binomial = boost::math::binomial_distribution<double>;
  Interval interval;
  if (trials == 0) return interval;
  const double each_side = kEachSide / static_cast<double>(together);
  if (failures > 0) interval.low = Binomial::find_lower_bound_on_p(trials, failures, each_side);
  if (failures < trials) {
    interval.high = Binomial::find_upper_bound_on_p(trials, failures, each_side);
  }
  return interval;
}

std::string confidence_in_words(int failures, int trials) {
  return confidence_in_words(failures, trials, exact_interval(failures, trials));
}

std::string confidence_in_words(int failures, int trials, const Interval& interval) {
  if (trials == 0) return "no trial counts";
  const std::string count = fmt::format("{} of {} failed: ", failures, trials);
  const std::string tail = " with 95% confidence";
  if (failures == 0) return count + "below " + percent_up(interval.high) + tail;
  if (failures == trials) return count + "above " + percent_down(interval.low) + tail;
  return count + percent_down(interval.low) + " to " + percent_up(interval.high) + tail;
}

std::string percent_up(double rate) {
  return percent(rate, true);
}
std::string percent_down(double rate) {
  return percent(rate, false);
}

std::optional<Spread> spread_of(std::span<const double> samples) {
  std::vector<double> sorted;
  for (double sample : samples) {
    if (std::isfinite(sample)) sorted.push_back(sample);
  }
  if (sorted.empty()) return std::nullopt;
  std::sort(sorted.begin(), sorted.end());
  const size_t middle = sorted.size() / 2;
  const double median =
      sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return Spread{median, sorted.front(), sorted.back(), static_cast<int>(sorted.size())};
}

}  // namespace mpsprobe
