#pragma once

#include <string>

#include "tools/runner/history/history_file.h"

namespace mpsprobe {

/// A run that the user named, as the history keeps it. Throws InputError where its folder holds no
/// journal, JournalError where that cannot be read.
KeptRun kept_run(const std::string& name);

}  // namespace mpsprobe
