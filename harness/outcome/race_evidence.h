#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/signature/find_failures.h"
#include "harness/stack/stack.h"

namespace mpsprobe {

/// Of several reports of ThreadSanitizer's the one that titles a process: the first, but what lies
/// in tear-down behind the others, and what lies in this project's own code last. nullptr where
/// there is none. Points into `findings`.
const Finding* titling_race(const std::vector<Finding>& findings);

/// What a process printed of that race; without one, of what another sanitizer found first.
struct RaceEvidence {
  std::vector<ThreadStack> sides;  ///< `thread` is kSideOfRace, `name` says what it did
  std::string text;                ///< the report, as far as its sides
};

/// Empty where it printed none. Untrusted input; throws only for lack of memory.
RaceEvidence race_evidence(std::string_view printed);

}  // namespace mpsprobe
