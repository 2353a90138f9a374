#pragma once

#include <string>
#include <vector>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// A boundary as fields of a table. Plain text.
struct BoundaryFields {
  std::string passing;  ///< "2 (0/10 < 31%)": failed / trials, and what their rate is below; "-"
  std::string failing;  ///< "3 (10/10 > 69%)", "none"
  std::string remark;   ///< what limits it: "passes again at 8", "refused at 4"; often empty
};
BoundaryFields fields_of(const Boundary& boundary);

/// The heads of the first two: of a campaign that settles "below 5% up to" and "5% or more from".
std::string passing_head(const Analysis& analysis);
std::string failing_head(const Analysis& analysis);

/// "no failure up to 2 threads (0 of 10 failed: below 31% with 95% confidence); fails from 3 ...".
std::string boundary_in_words(const Boundary& boundary);

}  // namespace mpsprobe
