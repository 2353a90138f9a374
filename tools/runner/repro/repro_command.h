#pragma once

#include "tools/runner/repro/repro_options.h"

namespace mpsprobe {

/// `mpsprobe repro`: reduces a failing cell to its minimal form and writes minimum.json and
/// repro.md beside a journal of its own. Returns the exit code: 0 minimised, or the budget used up;
/// 3 the device was lost; 4 the start cell does not fail here, or cannot be run; 130 interrupted.
/// Throws InputError, MachineError, JournalError, ReportError.
int repro_command_line(const ReproOptions& options);

}  // namespace mpsprobe
