#pragma once

#include <vector>

#include "harness/journal/journal.h"

namespace mpsprobe {

/// The GPU events of every trial, by index into the journal's trials. The system may report one
/// only when the next trial already runs; then it stands in that one's record, and its own time
/// tells to which trial it belongs: the last one that had begun. Each event once in a trial. Pure.
std::vector<std::vector<GpuEvent>> gpu_events_of_trials(const Journal& journal);

}  // namespace mpsprobe
