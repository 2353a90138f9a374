#pragma once

#include <optional>
#include <vector>

namespace mpsprobe {

/// k failures in n independent trials.
struct Proportion {
  int failures = 0;
  int trials = 0;
};

/// Fisher's exact test, two-sided: the probability, if both rates were the same and the number of
/// failures over both were what it is, of a split at most as likely as the one seen. Source: R. A.
/// Fisher, "The logic of inductive inference", Journal of the Royal Statistical Society 98 (1935);
/// two-sided by adding up the tables that are not more likely, as R's fisher.test does (within a
/// relative 1e-7, so that tables of equal probability count together). 1 where a side has no
/// trials, or nothing failed, or everything. Throws std::invalid_argument unless 0 <= failures <=
/// trials on both sides. Linear in the failures.
double fisher_exact(const Proportion& first, const Proportion& second);

/// p-values of several tests, each corrected for the number of them: significant at a level where
/// the corrected value is below it, with the chance of even one false claim in all of them below
/// that level. In the order given. Source: S. Holm, "A simple sequentially rejective multiple test
/// procedure", Scandinavian Journal of Statistics 6 (1979).
std::vector<double> holm_corrected(const std::vector<double>& p_values);

/// p-values of several tests, each corrected so that of the claims made below a level at most that
/// share is false in the mean; where there is no difference anywhere, the chance of even one claim
/// is below it. In the order given. Source: Y. Benjamini, Y. Hochberg, "Controlling the false
/// discovery rate", Journal of the Royal Statistical Society B 57 (1995).
std::vector<double> false_discovery_corrected(const std::vector<double>& p_values);

/// How many trials a side fisher_exact needs to tell a rate `first` from `second` at `level` with a
/// chance of `power`, by the approximation of J. T. Casagrande, M. C. Pike, P. G. Smith, "An
/// improved approximate formula for calculating sample sizes for comparing two binomial
/// distributions", Biometrics 34 (1978): within a few trials of the exact number. Throws
/// std::invalid_argument unless the rates are 0 to 1 and differ, level and power between 0 and 1.
double trials_to_see(double first, double second, double level, double power);

/// The same in whole trials, with a chance of 90%. Nothing where that takes more than a million, or
/// the rates are the same. Throws as above.
std::optional<int> trials_to_tell(double first, double second, double level);

}  // namespace mpsprobe
