#pragma once

#include <string_view>

#include "harness/wire/flight_recorder.h"
#include "scenarios/worker/channel.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe {

/// One iteration of a lane on the calling thread, which is the main one of its process, beside
/// nobody: entered, launched, waited for, left and compared. A wrong result goes to `channel`, its
/// text after `where`. Throws what the lane throws.
void work_alone(Lane& lane, int iteration, std::string_view where, FlightRecorder& recorder,
                Channel& channel);

}  // namespace mpsprobe
