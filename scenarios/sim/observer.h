#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/DeviceType.h>

#include <string_view>

#include "scenarios/sim/metal.h"
#include "scenarios/sim/operations.h"
#include "scenarios/sim/profile.h"
#include "scenarios/sim/stream.h"

namespace mpsprobe::sim {

/// Told of an operation, its path and its inputs, before it is encoded. On any thread.
using OnEncode = void (*)(const Operation&, EncodePath, c10::ArrayRef<const c10::IValue>);

/// Puts the simulated device below LibTorch: from now on every operation that LibTorch dispatches
/// in this process for tensors of `type`, on any thread, is encoded on it before the CPU computes
/// its result. With kCPU every operation counts; with kMPS those that have a tensor of that type or
/// make one. Call once, after the type's allocator was set; the observer stays until the process
/// ends. `on_encode` may be null. Throws what LibTorch throws.
void observe(const Profile& profile, c10::DeviceType type, OnEncode on_encode = nullptr);

/// Whether the calling thread is in the operation of this name and a defect wants its result
/// overwritten: for a kernel whose result is no tensor, which the observer cannot reach.
bool is_overwritten(std::string_view aten_name);

/// Gives the calling thread a stream of the pool. Needs observe().
void use_pool_stream();
/// Waits for the calling thread's stream, or for all. Need observe().
void synchronise();
void synchronise_all();

/// The device and its streams. Need observe().
metal::Device& simulated_device();
StreamPool& simulated_streams();

/// Gives the device an empty command buffer on a queue of its own and waits for it; false where it
/// ended with an error. Never returns while the device executes nothing. Needs observe().
bool probe();

/// The path that the operation took last: "graph", "nograph", "blit", "none"; "not observed" where
/// it has not run or is none that encodes. Static storage. Any thread.
const char* observed_path(std::string_view aten_name);

}  // namespace mpsprobe::sim
