#pragma once

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace mpsprobe {

struct ListOptions {
  std::string what = "matrices";   ///< operations, matrices, cells, axes, profiles, backends
  std::string matrix = "default";  ///< of `cells`
  std::vector<std::string> workers;
  bool json = false;
};

/// Adds the options of `list` to its subcommand. `options` must outlive the parsing.
void add_list_options(CLI::App& app, ListOptions& options);

/// `mpsprobe list`. Returns the exit code; throws InputError and MachineError.
int list_command_line(const ListOptions& options);

}  // namespace mpsprobe
