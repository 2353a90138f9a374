#pragma once

#include <optional>
#include <span>

#include "harness/statistics/anytime.h"

namespace mpsprobe {

/// Two sides of a comparison under one and the same condition: one thread count, for example.
struct Stratum {
  Proportion first;
  Proportion second;
};

/// The exact p-value, two-sided, of both sides having the same rate in each stratum, whatever rate
/// each has: the probability, if the failures of each stratum over both sides are what they are, of
/// a sum of the first side's failures at most as likely as the one seen. Sources: D. R. Cox, "A
/// simple example of a comparison involving quantal data", Biometrika 53 (1966); R's
/// mantelhaen.test(exact = TRUE). Two-sided by adding up as fisher_exact does, which it is for one
/// stratum. 1 where no stratum can tell. Quadratic in the failures. Throws std::invalid_argument
/// unless 0 <= failures <= trials everywhere.
double stratified_exact(std::span<const Stratum> strata);

/// The p-value that is right for how the trials were chosen: stratified_exact, or, where that was
/// by looking, 1 / E with E the product over the strata of what anytime_p_value rests on.
double stratified_p_value(Sampling sampling, std::span<const Stratum> strata);

/// How many more failures the first side has than it would with the second side's rate in each
/// stratum, on average: below 0 where it fails less often.
double excess_failures(std::span<const Stratum> strata);

/// The interval of the median of a distribution from `samples`, at least 95%: between two order
/// statistics, whatever the distribution. Nothing below six samples, where none is that sure, or
/// where one is not a number. Source: W. R. Thompson, "On confidence ranges for the median", Annals
/// of Mathematical Statistics 7 (1936).
std::optional<Interval> median_interval(std::span<const double> samples);

}  // namespace mpsprobe
