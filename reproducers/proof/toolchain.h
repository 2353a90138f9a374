#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/process/command.h"
#include "harness/wire/variables.h"
#include "reproducers/proof/proof.h"

namespace mpsprobe {

/// How a program is built and run on this machine.
struct Toolchain {
  std::string build;  ///< for a shell, in the program's folder; empty: there is nothing to build
  std::string with;   ///< what builds it, in words
  std::vector<std::string> run;
  Variables variables;   ///< that it runs with
  std::string how;       ///< what is under it, in words; empty: nothing is
  std::string no_build;  ///< why it cannot be built here; else empty
  std::string no_run;    ///< why it can be built here, and not run; else empty
};

/// The toolchain for `program`, whose files lie in `folder`. It is built by the line that is handed
/// on with it, with warnings as errors and the library that the failing trials loaded in place of
/// the one that the line looks for. On a simulated device the simulation is put under it.
Toolchain toolchain_for(const Emission& program, const ProofRequest& request,
                        const std::filesystem::path& folder);

/// Runs a command with the variables of the request's cell and `variables`, for at most `seconds`.
CommandResult run_for(const ProofRequest& request, const std::vector<std::string>& command,
                      double seconds, const Variables& variables);

/// How it ended, with the end of what it said.
std::string in_words(const CommandResult& result);

}  // namespace mpsprobe
