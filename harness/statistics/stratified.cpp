#include "harness/statistics/stratified.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "harness/statistics/interval.h"

namespace mpsprobe {
namespace {

constexpr double kAsLikely = 1 + 1e-7;

/// How many of a stratum's failures fall to the first side, if chance alone divides them.
struct Split {
  int64_t low = 0;
  std::vector<double> chances;  ///< of low, low + 1, ...
};

Split split_of(const Stratum& stratum) {
  const int64_t failures = int64_t{stratum.first.failures} + stratum.second.failures;
  const int64_t trials = int64_t{stratum.first.trials} + stratum.second.trials;
  Split split;
  split.low = std::max<int64_t>(0, failures - stratum.second.trials);
  const int64_t high = std::min<int64_t>(failures, stratum.first.trials);
  // Relative to the likeliest, outwards from it, by the ratio of neighbours: nothing overflows.
  const auto ratio = [&](int64_t x) {  // of x + 1 to x
    return static_cast<double>(failures - x) * static_cast<double>(stratum.first.trials - x) /
           (static_cast<double>(x + 1) *
            static_cast<double>(stratum.second.trials - failures + x + 1));
  };
  const int64_t likeliest = std::clamp(
      static_cast<int64_t>(static_cast<double>(failures + 1) * (stratum.first.trials + 1.0) /
                           static_cast<double>(trials + 2)),
      split.low, high);
  const auto at = [&](int64_t x) -> double& {
    return split.chances[static_cast<size_t>(x - split.low)];
  };
  split.chances.assign(static_cast<size_t>(high - split.low + 1), 1);
  for (int64_t x = likeliest; x < high; ++x) at(x + 1) = at(x) * ratio(x);
  for (int64_t x = likeliest; x > split.low; --x) at(x - 1) = at(x) / ratio(x - 1);
  const double all = std::accumulate(split.chances.begin(), split.chances.end(), 0.0);
  for (double& chance : split.chances) chance /= all;
  return split;
}

std::vector<double> convolved(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> both(a.size() + b.size() - 1, 0);
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t k = 0; k < b.size(); ++k) both[i + k] += a[i] * b[k];
  }
  return both;
}

}  // namespace

double stratified_exact(std::span<const Stratum> strata) {
  std::vector<double> chances{1};
  int64_t seen = 0;
  for (const Stratum& stratum : strata) {
    check_count(stratum.first.failures, stratum.first.trials);
    check_count(stratum.second.failures, stratum.second.trials);
    const Split split = split_of(stratum);
    chances = convolved(chances, split.chances);
    seen += stratum.first.failures - split.low;
  }
  const double most = chances[static_cast<size_t>(seen)] * kAsLikely;
  double sum = 0;
  for (const double chance : chances) sum += chance <= most ? chance : 0;
  return std::min(1.0, sum);
}

double stratified_p_value(Sampling sampling, std::span<const Stratum> strata) {
  if (sampling == Sampling::fixed) return stratified_exact(strata);
  double log_e = 0;
  for (const Stratum& stratum : strata) {
    log_e += anytime_log_evidence(stratum.first, stratum.second);
  }
  return std::min(1.0, std::exp(-log_e));
}

double excess_failures(std::span<const Stratum> strata) {
  double excess = 0;
  for (const Stratum& stratum : strata) {
    const double trials = static_cast<double>(stratum.first.trials) + stratum.second.trials;
    if (trials == 0) continue;
    const double failures = static_cast<double>(stratum.first.failures) + stratum.second.failures;
    excess += stratum.first.failures - failures * stratum.first.trials / trials;
  }
  return excess;
}

std::optional<Interval> median_interval(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  const auto is_odd = [](double sample) { return !std::isfinite(sample); };
  if (sorted.empty() || std::any_of(sorted.begin(), sorted.end(), is_odd)) return std::nullopt;
  std::sort(sorted.begin(), sorted.end());
  // The median is below the k-th smallest (from 0) with the chance that at most k samples are below
  // the median.
  const boost::math::binomial_distribution<> below(static_cast<double>(sorted.size()), 0.5);
  std::optional<size_t> at;
  for (size_t k = 0; 2 * k + 1 < sorted.size(); ++k) {
    if (2 * boost::math::cdf(below, static_cast<double>(k)) > 0.05) break;
    at = k;
  }
  if (!at) return std::nullopt;
  return Interval{sorted[*at], sorted[sorted.size() - 1 - *at]};
}

}  // namespace mpsprobe
