#pragma once

#include <string>

#include "tools/runner/run/run_options.h"

namespace mpsprobe {

/// What `mpsprobe verify` was asked for, as given. Workers, trials, seed, limits, folders and the
/// like are as of `run`.
struct VerifyOptions : RunOptions {
  std::string bundle;  ///< folder of a bundle
};

/// Adds the options of `verify` to its subcommand. `options` must outlive the parsing.
void add_verify_options(CLI::App& app, VerifyOptions& options);

/// `mpsprobe verify`. Returns the exit code; throws InputError, MachineError, JournalError,
/// ReportError.
int verify_command_line(const VerifyOptions& options);

}  // namespace mpsprobe
