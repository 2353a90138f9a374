#pragma once

#include <string>
#include <vector>

#include "reports/groups/failure_groups.h"

namespace mpsprobe {

/// "lazy (35 of 40 trials failed); compiled (3 of 40): of each none seen with 1 thread (0 of 80;
/// each p < 0.001 over 33 comparisons); fails also with stream=default; not told with a lock; 3
/// kinds of failure". Of operations of which the same is known, at least one. Plain text.
std::string operations_in_words(const Analysis& analysis, const FailureGroups& found,
                                const std::vector<size_t>& operations);

/// What a report says of failing operations, each once, those of which the same is known together:
/// of groups first.
struct SaidOfFailures {
  std::string words;     ///< plain text
  size_t operation = 0;  ///< the first that it is said of
  bool group = false;
};
std::vector<SaidOfFailures> said_of_failures(const Analysis& analysis, const FailureGroups& found);

/// What `run --more` would run; empty where everything is known.
std::string what_would_tell(const Analysis& analysis, const FailureGroups& found);

}  // namespace mpsprobe
