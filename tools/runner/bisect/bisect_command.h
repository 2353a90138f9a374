#pragma once

#include "tools/runner/bisect/bisect_options.h"

namespace mpsprobe {

/// `mpsprobe bisect`: the build at which a failure began or ended. Writes a journal for each build
/// that was tried, bisect.json and bisect.md. Returns the exit code: 0 settled, whatever the answer
/// is; 3 the device was lost; 4 fewer than two builds can run the cell; 6 not settled; 130
/// interrupted. Throws InputError, MachineError, JournalError, ReportError.
int bisect_command_line(const BisectOptions& options);

}  // namespace mpsprobe
