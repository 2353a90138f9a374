#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace mpsprobe {

/// What the machine is: {"os", "os_build", "kernel", "model", "chip", "architecture", "cores",
/// "memory_bytes", "compiler"}. A fact that the system does not tell is an empty text or 0. Holds
/// no name of a user, host or address.
nlohmann::json machine_facts();

/// What the system calls itself and the machine. A name that it does not tell is empty.
struct MachineNames {
  std::string os;        ///< "macOS 15.7.9"
  std::string os_build;  ///< "24G830"
  std::string model;     ///< "Mac16,5"
  std::string chip;      ///< "Apple M4 Max"
};

/// The text that sysctl has under a name; empty where it has none.
using SystemText = std::function<std::string(const char* name)>;

/// What macOS says of itself by sysctl.
MachineNames macos_names(const SystemText& sysctl);

}  // namespace mpsprobe
