#pragma once

#include <string>
#include <vector>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// Boundaries of one worker that say the same, as fields of a table. Plain text.
struct BoundaryRow {
  std::string cells;  ///< "chain; mlp, stream=per-thread (mlx-0.31.1)": without CommonAxes
  std::string axis;
  std::string passing;  ///< "2 (0/10 < 31%)": failed / trials, and what their rate is below; "-"
  std::string failing;  ///< "3 (10/10 > 69%)", "none"
  std::string inside;   ///< how many threads were at once inside an operation there; often empty
  std::string remark;   ///< what limits it: "passes again at 8", "refused at 4"; often empty
};
/// In the order of the boundaries: along threads first.
std::vector<BoundaryRow> boundary_rows(const Analysis& analysis);

/// The heads of `passing` and `failing`: of a campaign that settles "below 5% up to" and "5% or
/// more from".
std::string passing_head(const Analysis& analysis);
std::string failing_head(const Analysis& analysis);

/// "no failure up to 2 threads (0 of 10 failed: below 31% with 95% confidence); fails from 3 ...".
std::string boundary_in_words(const Boundary& boundary);

}  // namespace mpsprobe
