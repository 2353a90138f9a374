#pragma once

#include <string>

#include "harness/journal/journal.h"
#include "reports/analysis/analysis.h"
#include "tools/runner/history/history_file.h"

namespace mpsprobe {

/// A run that the user named, as the history keeps it. Throws InputError where its folder holds no
/// journal, JournalError where that cannot be read.
KeptRun kept_run(const std::string& name);

/// The same of what was read already. Pure.
KeptRun kept_run(const std::string& name, const Journal& journal, const Analysis& analysis);

}  // namespace mpsprobe
