#pragma once

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// The first thing that a report says. Where the matrix states expectations: how many cells came
/// out as expected. Else from how many threads it fails, whether a lock and processes help and what
/// a lock costs; for several workers what differs between them. Derived from the rest of the
/// analysis, which must be complete; the same for every matrix.
Answer find_answer(const Analysis& analysis);

}  // namespace mpsprobe
