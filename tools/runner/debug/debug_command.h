#pragma once

#include <optional>
#include <string>

#include "tools/runner/repro/repro_command.h"

namespace CLI {
class App;
}

namespace mpsprobe {

/// What `mpsprobe debug` was asked for.
struct DebugOptions {
  ReproOptions source;  ///< what, --signature, --worker, --env, --seed, --trust-run: as of `repro`
  std::optional<std::string> debugger;  ///< gdb or lldb; the first that is in PATH
  int attempts = 1000;                  ///< after which it is given up
  double interrupt = 30;                ///< seconds after which one that still runs is stopped
};

/// Adds the options of `debug` to its subcommand. `options` must outlive the parsing.
void add_debug_options(CLI::App& app, DebugOptions& options);

/// `mpsprobe debug`: runs one process of a failing cell under a debugger, again and again until it
/// crashes or hangs, and leaves the user at the debugger's prompt. Returns the exit code: 0 the
/// user was there; 4 it did not fail. Throws InputError, MachineError, JournalError.
int debug_command_line(const DebugOptions& options);

}  // namespace mpsprobe
