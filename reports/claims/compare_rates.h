#pragma once

#include <vector>

#include "reports/analysis/analysis.h"
#include "reports/claims/rate_claim.h"

namespace mpsprobe {

struct RateClaims {
  std::vector<RateClaim> each;
  /// All of `each` about one remedy as one claim, where there are several: what a few trials of
  /// each kind of cell do not show, those of all may. Each cell counts once.
  std::vector<RateClaim> together;
  /// Comparisons in which nothing failed: no claims. Those that have a price.
  std::vector<RateClaim> priced;
};

/// Compares all cells of an arm that differ in one axis which people set to be rid of failures, or
/// suspect of them: a lock, a throttle, how a thread waits, who made its arrays, streams
/// of their own, a variable of the environment; and threads with as many processes of one thread.
/// Needs `arms`, `cells` and `sampling` of the analysis. Where nothing failed on either side there
/// is no claim, but there may be a price. Of all that are made, each and together, at most 5% of
/// runs hold even one false one: exact tests, by thread count (stratified.h), corrected by Holm;
/// opposite effects of one setting by Bonferroni, where both directions are shown. Prices hold with
/// 95% each.
RateClaims compare_rates(const Analysis& analysis);

}  // namespace mpsprobe
