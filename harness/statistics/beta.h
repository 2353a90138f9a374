#pragma once

#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <cstddef>
#include <numbers>

// The beta distribution as the prior of a failure rate.

namespace mpsprobe {

/// ln B(a, b), for a and b above 0. Pure.
inline double log_beta_function(double a, double b) {
  // In double alone: long double, which Boost.Math takes by itself, is several times as slow, and
  // chances do not need its digits.
  constexpr boost::math::policies::policy<boost::math::policies::promote_double<false>> kInDouble;
  return boost::math::lgamma(a, kInDouble) + boost::math::lgamma(b, kInDouble) -
         boost::math::lgamma(a + b, kInDouble);
}

/// The middle of the `index`-th of `count` parts of [0, 1] that have the same share of Jeffreys'
/// prior Beta(1/2, 1/2), whose quantile of q is sin^2(pi q / 2). Pure.
inline double jeffreys_rate(size_t index, size_t count) {
  const double root = std::sin(std::numbers::pi / 2 * (static_cast<double>(index) + 0.5) /
                               static_cast<double>(count));
  return root * root;
}

}  // namespace mpsprobe
