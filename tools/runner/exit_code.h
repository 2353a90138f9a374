#pragma once

namespace mpsprobe {

/// Exit codes of `mpsprobe`, and the only place that defines them; docs/commands.md shows this
/// table.
enum ExitCode : int {
  kExitOk = 0,          ///< the run is complete and the report written
  kExitFound = 1,       ///< what --fail-on names was found
  kExitUsage = 2,       ///< an option, a cell or a matrix is wrong; nothing was run
  kExitMachine = 3,     ///< the harness or the machine could not do it
  kExitNothingRun = 4,  ///< nothing was selected or could run; nothing failed to be reduced
  kExitNoReport = 5,    ///< the report could not be written; the journal is whole
  kExitIncomplete = 6,  ///< what was planned was not done; nothing that --fail-on names was found
  kExitInterrupted = 130,  ///< ended by the user; the report shows what there is
};

}  // namespace mpsprobe
