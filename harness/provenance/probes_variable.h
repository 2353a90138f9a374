#pragma once

namespace mpsprobe {

/// Variable of a worker's environment that names symbols, mangled, separated by spaces
/// (--probe of the runner). A worker answers for each whether its process has it.
inline constexpr const char* kProbesVariable = "MPSPROBE_PROBES";

/// The same for variables of the environment (the axis `env`): `describe` answers for each whether
/// a library that the process has loaded has its name.
inline constexpr const char* kVariablesVariable = "MPSPROBE_VARIABLES";

}  // namespace mpsprobe
