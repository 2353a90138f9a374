#pragma once

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>

#include "harness/statistics/rate_question.h"

namespace mpsprobe {

/// How many trials the test of a fixed size takes that answers `question` with the same two error
/// rates: the smallest n for which some k has P(at least k failures | p0) <= alpha and P(fewer than
/// k | p1) <= beta. What a sequential test saves is measured against this. Linear in the answer
/// times its logarithm; 1,000,000 where it takes more.
inline int fixed_size(const RateQuestion& question) {
  constexpr double kTolerance = 1e-9;
  constexpr int kMost = 1'000'000;
  const auto suffices = [&question](int n) {
    const boost::math::binomial_distribution<> seldom(n, question.seldom_rate);
    const boost::math::binomial_distribution<> often(n, question.often_rate);
    // The fewest failures that p0 gives with at most alpha.
    int k = std::max(1, static_cast<int>(std::floor(question.seldom_rate * n)));
    while (k <= n && boost::math::cdf(boost::math::complement(seldom, k - 1)) >
                         question.false_often + kTolerance) {
      ++k;
    }
    return k <= n && boost::math::cdf(often, k - 1) <= question.false_seldom + kTolerance;
  };
  // More trials do not always suffice where fewer did (k is a whole number), so each n is asked.
  for (int n = 1; n < kMost; ++n) {
    if (suffices(n)) return n;
  }
  return kMost;
}

}  // namespace mpsprobe
