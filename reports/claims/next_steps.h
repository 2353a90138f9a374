#pragma once

#include <string>
#include <vector>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// What a reader asks after the answer: how far it was tried; where something failed, how it is
/// seen again, and, unless it is simulated, how whoever maintains the library is told. One sentence
/// each. RUN stands for the folder of the run, which a journal does not know. Needs `arms`,
/// `cells`, `rate_claims` and `left_out` of the analysis. Plain text.
std::vector<std::string> next_steps(const Analysis& analysis);

}  // namespace mpsprobe
