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

/// "lazy (35 of 40 trials failed); compiled (3 of 40): each needs more than 1 thread; fails also
/// with stream=default; not shown to need no lock; 3 kinds of failure". Of operations of which the
/// same is known, at least one. Plain text.
std::string operations_in_words(const Analysis& analysis, const FailureGroups& found,
                                const std::vector<size_t>& operations);

/// What a report says of failing operations, each once: of groups first, then of the others, of
/// which those with the same needs are named together.
struct SaidOfFailures {
  std::string words;     ///< plain text
  size_t operation = 0;  ///< the first that it is said of
  bool group = false;
};
std::vector<SaidOfFailures> said_of_failures(const Analysis& analysis, const FailureGroups& found);

/// What `run --more` would run; empty where everything is known.
std::string what_would_tell(const Analysis& analysis, const FailureGroups& found);

}  // namespace mpsprobe
