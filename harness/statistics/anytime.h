#pragma once

#include "harness/statistics/fisher.h"
#include "harness/statistics/interval.h"

// Intervals and tests that stay right however the number of trials came about: stopped by looking
// at the results, prolonged because they were close, cut off by a budget. For a number that was
// fixed beforehand, interval.h and fisher.h are sharper.

namespace mpsprobe {

/// The 95% confidence sequence of a failure rate after `failures` in `trials`. Under a rate p the
/// mixture martingale M(p) = B(k + 1/2, n - k + 1/2) / B(1/2, 1/2) / (p^k (1-p)^(n-k)) starts at 1
/// and has the mean 1, so by Ville's inequality it ever reaches 20 with a chance of at most 5%: the
/// interval is the rates at which it has not. Holds for all n at once, and so at any stopping time,
/// of trials that are independent given p. Bounds are found to within 1e-9 and rounded outwards by
/// as much. Sources: H. Robbins, "Statistical methods related to the law of the iterated
/// logarithm", Ann. Math. Statist. 41 (1970); S. R. Howard, A. Ramdas, J. McAuliffe, J. Sekhon,
/// "Time-uniform, nonparametric, nonasymptotic confidence sequences", Ann. Statist. 49 (2021). No
/// trials give [0, 1]. Throws std::invalid_argument unless 0 <= failures <= trials.
/// Of one of `together` cells as exact_interval. Pure.
Interval anytime_interval(int failures, int trials, int64_t together = 1);

/// The p-value, right at any stopping time, of two sides having the same failure rate: 1 / E, at
/// most 1, with E = M1(p) M2(p) at the common rate p that makes it least, the one seen over both
/// sides. For the true common rate the product of the two mixture martingales is itself one, in
/// whatever order the trials of the sides came; E is never above it, and so reaches 1/a with a
/// chance of at most a. Source: L. Wasserman, A. Ramdas, S. Balakrishnan, "Universal inference",
/// PNAS 117 (2020), with the mixture in the numerator. Throws std::invalid_argument as above. Pure.
double anytime_p_value(const Proportion& first, const Proportion& second);

/// ln E of that: sums over independent comparisons are again one's. Throws as above. Pure.
double anytime_log_evidence(const Proportion& first, const Proportion& second);

/// How the number of trials of a cell came about.
enum class Sampling : unsigned char {
  fixed,    ///< stated before the first one
  looking,  ///< depends on what was seen
};

/// The 95% interval of a failure rate that is right for how the trials were chosen: exact_interval
/// or anytime_interval.
Interval rate_interval(Sampling sampling, int failures, int trials, int64_t together = 1);

/// The p-value of two sides having the same rate that is right for how the trials were chosen:
/// fisher_exact or anytime_p_value.
double equality_p_value(Sampling sampling, const Proportion& first, const Proportion& second);

/// The methods of both, for people, with their sources.
const char* interval_method(Sampling sampling);
const char* equality_method(Sampling sampling);

}  // namespace mpsprobe
