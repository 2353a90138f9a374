#pragma once

#include "tools/runner/run/run_options.h"

namespace mpsprobe {

/// `mpsprobe run`. Returns the exit code; throws InputError, MachineError, JournalError,
/// ReportError.
int run_command_line(const RunOptions& options);

}  // namespace mpsprobe
