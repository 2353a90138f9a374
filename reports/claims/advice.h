#pragma once

#include <vector>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// What follows from the boundaries and comparisons of this run for the owner of an application:
/// how many threads, processes instead, a lock and what it costs. Each piece names the numbers
/// behind it. Nothing without a failing baseline in the same run: where nothing failed, nothing
/// helps. Needs `boundaries` and `rate_claims` of the analysis.
std::vector<Advice> advise(const Analysis& analysis);

}  // namespace mpsprobe
