#include "harness/statistics/known_rate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "harness/statistics/beta.h"
#include "harness/statistics/interval.h"

namespace mpsprobe {
namespace {

constexpr std::array<double, 4> kOddsRatios{1.5, 2, 3, 5};
constexpr double kEndsInANight = 1.0 / 90;

/// Jeffreys' posterior of a rate.
struct Posterior {
  double a;
  double b;
  explicit Posterior(const Proportion& seen)
      : a(seen.failures + 0.5), b(seen.trials - seen.failures + 0.5) {}
  double mean() const { return a / (a + b); }
  /// The logarithm of the chance of these outcomes in this order.
  double log_chance(const Proportion& next) const {
    return log_beta_function(a + next.failures, b + next.trials - next.failures) -
           log_beta_function(a, b);
  }
};

/// The logarithm of the mean chance of `next` over the other rates.
double log_chance_of_others(double rate, bool more, const Proportion& next) {
  double most = -std::numeric_limits<double>::infinity();
  std::array<double, kOddsRatios.size()> each;
  for (size_t i = 0; i < each.size(); ++i) {
    const double ratio = more ? kOddsRatios[i] : 1 / kOddsRatios[i];
    const double other = ratio * rate / (1 - rate + ratio * rate);
    each[i] = next.failures * std::log(other) + (next.trials - next.failures) * std::log1p(-other);
    most = std::max(most, each[i]);
  }
  double sum = 0;
  for (const double chance : each) sum += std::exp(chance - most);
  return most + std::log(sum / static_cast<double>(each.size()));
}

}  // namespace

RateDrift weigh_nights(const Proportion& record, std::span<const Proportion> nights) {
  check_count(record.failures, record.trials);
  RateDrift drift;
  Proportion before = record;
  for (const Proportion& night : nights) {
    check_count(night.failures, night.trials);
    before.failures += night.failures;
    before.trials += night.trials;
  }
  if (record.trials == 0) return drift;
  Proportion since;
  for (size_t night = nights.size(); night-- > 0;) {
    since.failures += nights[night].failures;
    since.trials += nights[night].trials;
    before.failures -= nights[night].failures;
    before.trials -= nights[night].trials;
    const Posterior known(before);
    const double as_known = known.log_chance(since);
    const double more = log_chance_of_others(known.mean(), true, since) - as_known;
    const double less = log_chance_of_others(known.mean(), false, since) - as_known;
    if (more > drift.more_often) drift.more_often = more, drift.more_since = night;
    if (less > drift.less_often) drift.less_often = less, drift.less_since = night;
  }
  return drift;
}

double chance_gone(const Proportion& seen, std::span<const int> silent) {
  check_count(seen.failures, seen.trials);
  const Posterior rate(seen);
  Proportion spared;
  double gone = 0;  // chance of the nights, had it ended before one of them
  for (const int trials : silent) {
    if (trials < 0) throw std::invalid_argument("fewer than no trials");
    if (trials == 0) continue;
    gone += kEndsInANight * std::exp(rate.log_chance(spared));
    spared.trials += trials;
  }
  if (seen.failures == 0) return 0;
  const double live = std::exp(rate.log_chance(spared));
  return gone + live > 0 ? gone / (gone + live) : 1;
}

}  // namespace mpsprobe
