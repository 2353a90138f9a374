#pragma once

#include <string>
#include <vector>

#include "reports/analysis/analysis.h"
#include "reports/analysis/trial_facts.h"

namespace mpsprobe {

/// Everything that limits what a run is worth, gravest first. `divided` names the workers whose
/// trials ran on several builds; `repeated` counts trials that the journal holds twice.
std::vector<Warning> warn(const Journal& journal, const Analysis& analysis,
                          const TrialFactsList& trials, const std::vector<std::string>& divided,
                          int repeated);

}  // namespace mpsprobe
