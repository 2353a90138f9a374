#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "reports/analysis/trial_facts.h"

namespace mpsprobe {

/// The GPU events of the trials that have any, by index into the journal's trials. The system may
/// report one only when the next trial already runs; then it stands in that one's record, and its
/// own time tells to which trial it belongs: the last one that had begun. Each event once in a
/// trial. Pure.
std::map<size_t, std::vector<GpuEvent>> gpu_events_of_trials(const TrialFactsList& trials);

}  // namespace mpsprobe
