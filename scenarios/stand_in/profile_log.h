#pragma once

#include <ATen/core/ivalue.h>

#include "scenarios/sim/operations.h"

namespace mpsprobe::stand_in {

/// Prints the operation to stderr where PYTORCH_MPS_LOG_PROFILE_INFO asks for it, as LibTorch's
/// MPSProfiler prints one that a graph or a kernel encodes (OperationInfo::toString of 2.15.0).
/// Of the names only linear's is LibTorch's own; the others are those of the simulated device. Any
/// thread.
void log_operation(const sim::Operation& operation, sim::EncodePath path,
                   c10::ArrayRef<const c10::IValue> inputs);

}  // namespace mpsprobe::stand_in
