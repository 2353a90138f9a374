#pragma once

namespace mpsprobe {

/// Variable of a worker's environment that names symbols, mangled, separated by spaces
/// (--probe of the runner). A worker answers for each whether its process has it.
inline constexpr const char* kProbesVariable = "MPSPROBE_PROBES";

}  // namespace mpsprobe
