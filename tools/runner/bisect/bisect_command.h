#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/runner/run/run_options.h"

namespace mpsprobe {

/// What `mpsprobe bisect` was asked for. Own code, limits, seed, folders and the like are as of
/// `run`.
struct BisectOptions : RunOptions {
  std::string cell;
  std::string builds;  ///< --builds: a file with one on each line, or a list with commas
  std::string make;    ///< --make: a command that prints the path of a worker
  std::string signature;
  std::vector<std::string> from;  ///< --from: runs whose trials count as well
  double confidence = 95;         ///< percent
  int most_trials = 2000;
  int confirm = 0;             ///< trials of each side after the search
  std::optional<int> threads;  ///< of own code, where no cell is named
};

/// Adds the options of `bisect` to its subcommand. `options` must outlive the parsing.
void add_bisect_options(CLI::App& app, BisectOptions& options);

/// `mpsprobe bisect`: the build at which a failure began or ended. Writes a journal for each build
/// that was tried, bisect.json and bisect.md. Returns the exit code: 0 settled, whatever the answer
/// is; 3 the device was lost; 4 fewer than two builds can run the cell; 6 not settled; 130
/// interrupted. Throws InputError, MachineError, JournalError, ReportError.
int bisect_command_line(const BisectOptions& options);

}  // namespace mpsprobe
