#pragma once

#include <vector>

#include "harness/record/process_record.h"
#include "harness/signature/find_failures.h"

namespace mpsprobe {

// Processes that another process's fault hit: the GPU restarts, and everybody's work is discarded.
// All throw only for lack of memory, and may be called from any thread.

/// Whether the text tells of that.
bool is_victim(const Finding& finding);

/// Whether whatever the process reported comes of that: the restart itself, and wrong numbers,
/// which the discarded command buffer explains.
bool reported_as_a_victim(const ProcessRecord& process);

/// Whether the process told of it, in `findings` or in a report of its own.
bool saw_itself_as_a_victim(const ProcessRecord& process, const std::vector<Finding>& findings);

/// Whether that is all that the process told of.
bool only_a_victim(const ProcessRecord& process, const std::vector<Finding>& findings);

}  // namespace mpsprobe
