#pragma once

#include <string>
#include <vector>

namespace mpsprobe {

struct ListOptions {
  std::string what = "matrices";   ///< operations, matrices, cells, axes, profiles, backends
  std::string matrix = "default";  ///< of `cells`
  std::vector<std::string> workers;
  bool json = false;
};

/// `mpsprobe list`. Returns the exit code; throws InputError and MachineError.
int list_command_line(const ListOptions& options);

}  // namespace mpsprobe
