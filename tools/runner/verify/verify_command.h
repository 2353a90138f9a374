#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/runner/run/run_options.h"

namespace CLI {
class App;
}

namespace mpsprobe {

/// What `mpsprobe verify` was asked for, as given.
struct VerifyOptions {
  std::string bundle;  ///< folder of a bundle
  std::string fail_on = "never";
  bool json = false;
  RunOptions run;  ///< workers, trials, seed, environment, limits, out, resume: as for `run`
};

/// Adds the options of `verify` to its subcommand. `options` must outlive the parsing.
void add_verify_options(CLI::App& app, VerifyOptions& options);

/// `mpsprobe verify`. Returns the exit code; throws InputError, MachineError, JournalError,
/// ReportError.
int verify_command_line(const VerifyOptions& options);

}  // namespace mpsprobe
