#pragma once

#include <functional>

#include "harness/wire/flight_recorder.h"

namespace mpsprobe {

/// A command queue for the probe alone. `device` is an id<MTLDevice>. To be made beforehand: a
/// process that hangs may hold what it takes. Never freed; nullptr where there is none. Any thread.
void* make_probe_queue(void* device);

/// Gives the GPU an empty command buffer on that queue, an id<MTLCommandQueue>, calls `submitted`,
/// and waits for it: `completed`, or `failed` where it ended with an error. Goes around the queues,
/// streams and allocators of whatever else runs, of which a hung thread may hold any. Never returns
/// while the GPU executes nothing. Any thread.
Probe probe_metal(void* queue, const std::function<void()>& submitted);

}  // namespace mpsprobe
