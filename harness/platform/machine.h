#pragma once

#include <nlohmann/json_fwd.hpp>

namespace mpsprobe {

/// What the machine is: {"os", "os_build", "kernel", "model", "chip", "architecture", "cores",
/// "memory_bytes", "compiler"}. A fact that the system does not tell is an empty text or 0. Holds
/// no name of a user, host or address.
nlohmann::json machine_facts();

}  // namespace mpsprobe
