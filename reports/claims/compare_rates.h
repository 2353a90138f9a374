#pragma once

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// Compares all cells of an arm that differ in one axis which people set to be rid of failures, or
/// suspect of them: a lock, a throttle, how a thread waits, who made its arrays, streams
/// of their own, a variable of the environment; and threads with as many processes of one thread.
/// Needs `arms`, `cells` and `sampling` of the analysis, and fills in its claims. Where nothing
/// failed on either side there is no claim, but there may be a price. Of all that are made, each
/// and together, at most 5% of runs hold even one false one: exact tests, by thread count
/// (stratified.h), corrected by Holm; opposite effects of one setting by Bonferroni, where both
/// directions are shown. Prices hold with 95% each.
void compare_rates(Analysis& analysis);

}  // namespace mpsprobe
