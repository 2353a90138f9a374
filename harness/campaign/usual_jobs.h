#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "harness/journal/journal.h"

namespace mpsprobe {

/// How many trials run at the same time where --jobs does not say so: one for each core, at most 8.
/// One alone where cells use a device, or where their races need the cores: those of MLX, unless
/// all workers are interpreters with a lock, of which one uses little more than a core.
/// `cores`: of the machine; 0 as 1.
int usual_jobs(const std::set<Backend>& backends, const std::vector<WorkerInfo>& workers,
               uint64_t cores);

}  // namespace mpsprobe
