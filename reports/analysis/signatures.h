#pragma once

#include <cstddef>
#include <vector>

#include "reports/analysis/analysis.h"

namespace mpsprobe {

/// Groups failed trials by their title, most frequent first. `failed` holds indices into the
/// journal's trials, `arm_of_trial` the arm of every trial. Rates stay with their cell and arm;
/// only failures are counted across them. A title of crashes and one of hangs in the same cell and
/// arm are linked (SignatureGroup::related), never merged.
std::vector<SignatureGroup> group_by_signature(const Journal& journal, const Analysis& analysis,
                                               const std::vector<size_t>& arm_of_trial,
                                               const std::vector<size_t>& failed);

}  // namespace mpsprobe
