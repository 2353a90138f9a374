#pragma once

#include <string>
#include <vector>

#include "reports/groups/failure_groups.h"

namespace mpsprobe {

/// "chain, mlp need the same conditions: more than 1 thread, stream=per-thread, no lock, before
/// 0.32.4 (61 of 120 trials failed, without one of these 0 of 480; each p at most 0.004 over 33
/// comparisons); 14 kinds of failure". Plain text.
std::string group_in_words(const Analysis& analysis, const FailureGroups& found,
                           const FailureGroup& group);

/// "lazy: 35 of 40 trials failed; needs more than 1 thread; goes on with stream=default; not shown:
/// no lock; 3 kinds of failure". Plain text.
std::string operation_in_words(const Analysis& analysis, const FailingOperation& operation);

/// Operations that are in no group.
std::vector<size_t> apart_from_groups(const FailureGroups& found);

/// What `run --more` would run; empty where everything is known.
std::string what_would_tell(const Analysis& analysis, const FailureGroups& found);

}  // namespace mpsprobe
