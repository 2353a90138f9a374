#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace mpsprobe {

/// A range of failure rates, 0 to 1.
struct Interval {
  double low = 0;
  double high = 1;
};

/// Throws std::invalid_argument where there cannot be so many failures.
void check_count(int failures, int trials);

/// The exact (Clopper-Pearson) 95% interval of a failure rate after `failures` in `trials`
/// independent trials: the rates p under which neither a result at least so high nor one at least
/// so low has less than 2.5%. At every count, also where nothing failed or everything, so that for
/// each rate and number of trials the interval holds the rate with 95% or more: a bound that is
/// one-sided at the ends alone is chosen after looking, and does not. Source: C. J. Clopper, E. S.
/// Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial",
/// Biometrika 26 (1934), by the beta quantiles of Boost.Math
/// (binomial_distribution::find_lower_bound_on_p, find_upper_bound_on_p).
/// No trials give [0, 1]. Of one of `together` cells that were tested: all of them hold at once
/// with 95%, and so those that are picked after looking. The chance to miss is shared among them
/// (Bonferroni). Throws std::invalid_argument unless 0 <= failures <= trials and `together` is
/// above 0.
Interval exact_interval(int failures, int trials, int64_t together = 1);

/// The interval in words: "0 of 10 failed: below 31% with 95% confidence". Bounds are rounded
/// outwards, so that the words never claim more than the numbers.
std::string confidence_in_words(int failures, int trials);
/// The same with an interval that came about in another way (anytime.h).
std::string confidence_in_words(int failures, int trials, const Interval& interval);

/// A rate rounded up or down to a whole percent, or to a tenth below 1% and above 99%: "26%",
/// "0.3%".
std::string percent_up(double rate);
std::string percent_down(double rate);

/// The smallest, middle and largest of some samples.
struct Spread {
  double median = 0;  ///< mean of the two middle ones where their number is even
  double low = 0;
  double high = 0;
  int samples = 0;
};

/// Nothing where there are no samples. Samples that are not finite are left out.
std::optional<Spread> spread_of(std::span<const double> samples);

}  // namespace mpsprobe
