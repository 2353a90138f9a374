#include "harness/statistics/anytime.h"

#include <algorithm>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "harness/statistics/beta.h"

namespace mpsprobe {
namespace {

constexpr double kLogBound = 2.995732273553991;  // ln(1 / 0.05)
constexpr double kOutwards = 1e-9;
constexpr uintmax_t kMostSteps = 200;

// ln of what the mixture Beta(1/2, 1/2) gives to k failures and n - k passes in their order.
double log_mixture(const Proportion& seen) {
  const double log_pi = 1.1447298858494002;  // B(1/2, 1/2) = pi
  return log_beta_function(seen.failures + 0.5, seen.trials - seen.failures + 0.5) - log_pi;
}

double log_likelihood(const Proportion& seen, double rate) {
  double sum = 0;
  if (seen.failures > 0) sum += seen.failures * std::log(rate);
  if (seen.failures < seen.trials) sum += (seen.trials - seen.failures) * std::log1p(-rate);
  return sum;
}

}  // namespace

Interval anytime_interval(int failures, int trials, int64_t together) {
  if (together <= 0) throw std::invalid_argument("no cells");
  const Proportion seen{failures, trials};
  check_count(failures, trials);
  if (trials == 0) return {};
  const double mixture = log_mixture(seen);
  const double log_bound = kLogBound + std::log(static_cast<double>(together));
  // Below 0 within the interval. At the rate seen the likelihood is largest and the mixture, a mean
  // of likelihoods, below it: the interval holds that rate, and M rises on both sides of it.
  const auto excess = [&](double rate) { return mixture - log_likelihood(seen, rate) - log_bound; };
  const double middle = static_cast<double>(failures) / trials;
  const auto bound = [&](double inside, double outside) {
    const double low = std::min(inside, outside);
    const double high = std::max(inside, outside);
    uintmax_t steps = kMostSteps;
    const auto found = boost::math::tools::bisect(
        excess, low, high, [](double a, double b) { return std::fabs(b - a) < kOutwards / 2; },
        steps);
    return (found.first + found.second) / 2;
  };
  // Rates that near 0 and 1 are beyond any number of trials that fits in an int.
  constexpr double kLeast = 1e-12;
  Interval interval;
  if (failures > 0) interval.low = std::max(0.0, bound(middle, kLeast) - kOutwards);
  if (failures < trials) interval.high = std::min(1.0, bound(middle, 1 - kLeast) + kOutwards);
  return interval;
}

double anytime_log_evidence(const Proportion& first, const Proportion& second) {
  check_count(first.failures, first.trials);
  check_count(second.failures, second.trials);
  const Proportion both{first.failures + second.failures, first.trials + second.trials};
  if (both.trials == 0) return 0;
  const double rate = static_cast<double>(both.failures) / both.trials;
  return log_mixture(first) + log_mixture(second) - log_likelihood(both, rate);
}

double anytime_p_value(const Proportion& first, const Proportion& second) {
  return std::min(1.0, std::exp(-anytime_log_evidence(first, second)));
}

Interval rate_interval(Sampling sampling, int failures, int trials, int64_t together) {
  return sampling == Sampling::fixed ? exact_interval(failures, trials, together)
                                     : anytime_interval(failures, trials, together);
}

double equality_p_value(Sampling sampling, const Proportion& first, const Proportion& second) {
  return sampling == Sampling::fixed ? fisher_exact(first, second) : anytime_p_value(first, second);
}

const char* interval_method(Sampling sampling) {
  return sampling == Sampling::fixed
             ? "exact interval for a fixed number of trials (Clopper and Pearson 1934)"
             : "confidence sequence, right at any stopping time: beta-binomial mixture (Robbins "
               "1970; Howard, Ramdas, McAuliffe and Sekhon 2021)";
}

const char* equality_method(Sampling sampling) {
  return sampling == Sampling::fixed
             ? "Fisher's exact test, two-sided, for a fixed number of trials"
             : "universal inference with a beta-binomial mixture, right at any stopping time "
               "(Wasserman, Ramdas and Balakrishnan 2020)";
}

}  // namespace mpsprobe
