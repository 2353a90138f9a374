#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace mpsprobe {

struct ObserveOptions {
  std::vector<std::string> program;  ///< and its arguments
  bool json = false;
  bool trap = false;  ///< hold threads where others may meet them
};

/// Adds the options of `observe` to its subcommand. `options` must outlive the parsing.
void add_observe_options(CLI::App& app, ObserveOptions& options);

/// `mpsprobe observe`. Returns the exit code; throws MachineError.
int observe_command_line(const ObserveOptions& options);

}  // namespace mpsprobe
