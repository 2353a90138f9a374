#pragma once

#include <optional>
#include <string>

#include "tools/runner/run/run_options.h"

namespace mpsprobe {

/// What `mpsprobe repro` was asked for, as given: what was not given is empty. Seed, limits,
/// folders and the like are as of `run`.
struct ReproOptions : RunOptions {
  std::string what;  ///< a cell, a report.json, or the folder of a run; "" with --resume
  std::optional<std::string> signature;
  std::optional<std::string> worker;  ///< NAME=PATH
  std::optional<int> most_trials;
  std::optional<int> patience;
  std::optional<int> condition_trials;
  bool no_conditions = false;
  bool no_programs = false;
};

/// Adds the options of `repro` to its subcommand. `options` must outlive the parsing.
void add_repro_options(CLI::App& app, ReproOptions& options);

/// `mpsprobe repro`: reduces a failing cell to its minimal form and writes minimum.json and
/// repro.md beside a journal of its own. Returns the exit code: 0 minimised, or the budget used up;
/// 3 the device was lost; 4 the start cell does not fail here, or cannot be run; 130 interrupted.
/// Throws InputError, MachineError, JournalError, ReportError.
int repro_command_line(const ReproOptions& options);

}  // namespace mpsprobe
