#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/record/trial_limits.h"
#include "harness/wire/start_process.h"

namespace CLI {
class App;
}

namespace mpsprobe {

/// What `mpsprobe repro` was asked for, as given: what was not given is empty.
struct ReproOptions {
  std::string what;  ///< a cell, a report.json, or the folder of a run; "" with --resume
  std::optional<std::string> signature;
  std::optional<std::string> worker;  ///< NAME=PATH
  std::optional<std::string> out;
  std::optional<std::string> resume;
  std::optional<uint64_t> seed;
  std::vector<std::string> environment;
  AskedLimits limits;
  std::optional<int> most_trials;
  std::optional<int> patience;
  std::optional<int> condition_trials;
  std::optional<StartProcess> start_process;
  std::vector<std::string> crash_reports;
  bool trust_run = false;
  bool no_conditions = false;
  bool no_programs = false;
  bool json = false;
  std::vector<std::string> command_line;
};

/// Adds the options of `repro` to its subcommand. `options` must outlive the parsing.
void add_repro_options(CLI::App& app, ReproOptions& options);

/// `mpsprobe repro`: reduces a failing cell to its minimal form and writes minimum.json and
/// repro.md beside a journal of its own. Returns the exit code: 0 minimised, or the budget used up;
/// 3 the device was lost; 4 the start cell does not fail here, or cannot be run; 130 interrupted.
/// Throws InputError, MachineError, JournalError, ReportError.
int repro_command_line(const ReproOptions& options);

}  // namespace mpsprobe
