#pragma once

#include <cstddef>
#include <span>

#include "harness/statistics/fisher.h"

// A failure that is known with its rate, k of n, and what further nights say of it.

namespace mpsprobe {

/// For how much better another rate explains the nights than the known one, as natural logarithms
/// of Bayes factors.
struct RateDrift {
  double more_often = 0;
  double less_often = 0;
  size_t more_since = 0;  ///< the night since which it is best explained so
  size_t less_since = 0;
};

/// From this on a drift is claimed. Simulated in known_rate_test.cpp: a known failure of 10% keeps
/// fewer than one of 90 nights of 10 trials red in the mean, known from 30, 100 or 1,000 trials.
constexpr double kClaimedDrift = 4.2;

/// For each night since which the rate may be another: the chance of the failures since, were the
/// odds 1.5, 2, 3 or 5 times what they were (each with the same chance; for less_often one of
/// these), against their chance by Jeffreys' posterior of the record and the nights before; the
/// largest of these ratios (E. S. Page, "Continuous inspection schemes", Biometrika 41, 1954, with
/// a mixture in place of one alternative). A ratio does not depend on when trials ended, so that it
/// holds for campaigns that settle as well. Nothing is claimed of a record without trials. Throws
/// std::invalid_argument unless 0 <= failures <= trials everywhere. O(nights). Pure.
RateDrift weigh_nights(const Proportion& record, std::span<const Proportion> nights);

/// A failure is called gone from this chance on. Simulated likewise: of live defects of
/// 1% that are known from 100 trials or more at most 1 in 100 is ever called gone in 90 nights of
/// 10 or 50 trials, looked at every night.
constexpr double kClaimedGone = 0.99;

/// The chance that a failure which was seen in `seen`, up to its last time, is gone after nights
/// without it, given how many trials each had. m trials of a live one are all clean with
/// S(m) = B(k + 1/2, n - k + 1/2 + m) / B(k + 1/2, n - k + 1/2), by Jeffreys' prior. It may have
/// ended before any of the nights, each with 1/90 of the weight of its being alive (the statistic
/// of Shiryaev and Roberts: A. N. Shiryaev, "On optimum methods in quickest detection problems",
/// Theory Probab. Appl. 8, 1963). 0 where it was never seen or no night had trials. Throws
/// std::invalid_argument as above, or where a night has fewer than no trials. O(nights). Pure.
double chance_gone(const Proportion& seen, std::span<const int> silent);

}  // namespace mpsprobe
