#pragma once

#include "harness/wire/cell.h"
#include "harness/wire/flight_recorder.h"
#include "scenarios/worker/channel.h"
#include "scenarios/worker/workload.h"

namespace mpsprobe {

/// Forks a child of the calling thread, which is the main one and the last that works, as a program
/// forks that has used the device: the child ends at once (`idle`), or does one more iteration of
/// the lane, is compared, and ends (`use`). Waits for it. What goes wrong in the child is told as
/// that of this process: its exceptions and wrong numbers by events, a signal by dying of the same
/// one, an exit code by leaving with it; the crash handler notes the child's crash in the recorder
/// that both share. A child that hangs makes no progress, and neither does its parent. It ends with
/// the runner. Throws SetupError where there can be no child.
void run_forked_child(ForkedChild child, Lane& lane, int iteration, FlightRecorder& recorder,
                      Channel& channel);

}  // namespace mpsprobe
