#pragma once

#include <cstddef>
#include <vector>

#include "reports/analysis/analysis.h"
#include "reports/analysis/trial_facts.h"

namespace mpsprobe {

/// Groups failed trials by their title, most frequent first. `failed` holds indices into the
/// journal's trials, whose arms are in Analysis::arm_of_trial. Rates stay with their cell and arm;
/// only failures are counted across them. A title of crashes and one of hangs in the same cell and
/// arm are linked (SignatureGroup::related), never merged.
std::vector<SignatureGroup> group_by_signature(const Journal& journal, const Analysis& analysis,
                                               const TrialFactsList& trials,
                                               const std::vector<size_t>& failed);

}  // namespace mpsprobe
