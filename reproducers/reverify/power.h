#pragma once

#include <optional>

namespace mpsprobe {

/// How sure a planned comparison is to find a difference that is there.
inline constexpr double kPower = 0.9;

/// The fewest trials a side with which Fisher's exact test, two-sided, is to tell a failure rate of
/// `rate` from none at `level` with a probability of `power`: the smallest n for which
///
///     P[ X >= k(n) ] >= power,  X binomial (n, rate),
///     k(n) = the smallest k with p(k, n) < level,
///     p(k, n) = 2 * C(n, k) / C(2n, k)
///
/// where p is the test's value for k of n failures against 0 of n: both splits that are least
/// likely have the same probability, hence the 2. Nothing where that takes more than a million
/// trials, or where rate, level or power is not above 0 (level and power below 1). Pure.
std::optional<int> trials_for_power(double rate, double level, double power = kPower);

}  // namespace mpsprobe
