#pragma once

#include <c10/core/Allocator.h>

#include <string>

#include "scenarios/sim/metal.h"
#include "scenarios/sim/stream.h"

namespace mpsprobe::stand_in {

/// Runs the simulated device with the profile of that file. Throws InputError where it is broken,
/// or another one runs.
void start(const char* profile_path);
/// What runs, see mpsprobe_stand_in_describe(). Static storage.
const std::string& description();

/// The device and its streams; where none runs yet, one without defects. Any thread.
sim::metal::Device& device();
sim::StreamPool& streams();

/// The host's memory, as the device type's. Lives as long as the process.
c10::Allocator& memory();

}  // namespace mpsprobe::stand_in
