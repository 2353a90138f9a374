#pragma once

#include <set>
#include <string>

#include "reports/expectations/judge_expectations.h"

namespace mpsprobe {

/// What --fail-on can name of known failures: "new" (no entry knows it), "worse" (new, or more
/// often than known), "unseen" (not for long), "expired" (an entry's review is due).
bool found_in(const Findings& findings, const std::set<std::string>& fail_on);

}  // namespace mpsprobe
