#pragma once

#include <string>
#include <vector>

#include "reports/analysis/analysis.h"
#include "reports/claims/families.h"

namespace mpsprobe {

/// What one build came to.
struct BuildAnswer {
  std::string sentence;
  bool fails = false;   ///< in some cell, as far as that was asked
  bool tested = false;  ///< at least one trial counts
};

/// "LibTorch 2.15.0: no failure up to 2 threads (...); crashes from 3 threads (...); refuses ...":
/// up to where nothing failed and nothing was refused, each harm at the least load that shows it,
/// what is refused, and what is left. `cells` are those of one arm, at least one. Plain text.
BuildAnswer answer_of_build(const Analysis& analysis, const SettledPlaces& places,
                            const std::vector<const CellSummary*>& cells);

}  // namespace mpsprobe
