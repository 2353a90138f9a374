#pragma once

#include "harness/wire/flight_recorder.h"

namespace mpsprobe {

/// Gives the GPU an empty command buffer on a command queue of its own and waits for it:
/// `completed`, or `failed` where it ended with an error. Goes around LibTorch's streams, queues
/// and allocator, of which a hung thread may hold any. Never returns while the GPU executes
/// nothing. `device` is the id<MTLDevice> that LibTorch uses. Any thread.
Probe probe_metal(void* device);

}  // namespace mpsprobe
