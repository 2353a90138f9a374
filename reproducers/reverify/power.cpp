#include "reproducers/reverify/power.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>

namespace mpsprobe {
namespace {

constexpr int kMostTrials = 1'000'000;
constexpr int kMostFailures = 200;  // 2^(1-k) is below any level long before

/// Fisher's two-sided value for k of n against 0 of n. Rises with n, falls with k.
double p_against_none(int k, int n) {
  double p = 2;
  for (int i = 0; i < k; ++i) p *= static_cast<double>(n - i) / static_cast<double>(2 * n - i);
  return std::min(1.0, p);
}

/// The smallest n in [low, high] for which `holds`, which holds from some n on and does at `high`.
template <typename Holds>
int first_that(int low, int high, Holds holds) {
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

std::optional<int> trials_for_power(double rate, double level, double power) {
  if (!(rate > 0 && level > 0 && level < 1 && power > 0 && power < 1)) return std::nullopt;
  rate = std::min(rate, 1.0);
  // For each k the n that k failures suffice for are k, k+1, ... up to a last one, and the chance
  // to see k rises with n: two searches by halves. What a smaller k leaves open begins after its
  // last n, so the first k that gets there has the smallest n.
  for (int k = 1; k <= kMostFailures; ++k) {
    const auto too_many = [&](int n) { return p_against_none(k, n) >= level; };
    if (too_many(k)) continue;
    const int last = too_many(kMostTrials) ? first_that(k, kMostTrials, too_many) - 1 : kMostTrials;
    const auto sure = [&](int n) {
      const boost::math::binomial_distribution<> failures(n, rate);
      return boost::math::cdf(boost::math::complement(failures, k - 1)) >= power;
    };
    if (sure(last)) return first_that(k, last, sure);
    if (last == kMostTrials) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace mpsprobe
