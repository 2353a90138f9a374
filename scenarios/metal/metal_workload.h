#pragma once

#include <cstdint>
#include <memory>

#include "harness/wire/cell.h"
#include "scenarios/metal/recipe.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe::metal {

/// An operation on Apple's frameworks as a cell asks for it, with nothing of PyTorch in between.
/// Each command buffer is made, filled and committed by one thread; where MPSGraph
/// commits it and goes on with another, all of them are waited for and looked at. Call
/// prepare_device (apple_device.h) before. `operation` has static storage. Throws UnsupportedError
/// where shape, dtype or path are not possible for it.
std::unique_ptr<Workload> make_metal_workload(const MetalOperation& operation, const Cell& cell,
                                              uint64_t seed);

}  // namespace mpsprobe::metal
