#pragma once

#include <vector>

#include "reports/analysis/analysis.h"
#include "reports/claims/rate_claim.h"

namespace mpsprobe {

/// Compares all cells of an arm that differ in one axis which people set to be rid of failures, or
/// suspect of them: a lock, a throttle, a queue, how a thread waits, who made its arrays, streams
/// of their own, a variable of the environment; and threads with as many processes of one thread.
/// Needs `arms`, `cells` and `sampling` of the analysis. Where nothing failed on either side there
/// is no claim. Of all that are made at most 5% of runs hold even one false one: exact tests, by
/// thread count (stratified.h), corrected by Holm. Prices hold with 95% each.
std::vector<RateClaim> compare_rates(const Analysis& analysis);

/// Several claims about one axis as one: what a few trials of each kind of cell do not show, those
/// of all may. Of `such` ones that are made of a run at most 5% of runs hold a false one: the exact
/// test of all their pairs of cells, corrected by Bonferroni. Those that cannot be compared are
/// left out.
RateClaim taken_together(Sampling sampling, const std::vector<const RateClaim*>& claims,
                         size_t such);

}  // namespace mpsprobe
