#pragma once

#include <functional>

#include "harness/wire/cell.h"
#include "harness/wire/event.h"
#include "harness/wire/flight_recorder.h"

namespace mpsprobe {

// The observer (scenarios/observer) in this process, where the cell asks for it with observe=.

using TellObserved = std::function<void(const Event&)>;

/// Loads the library, makes a device and watches its classes, once a process; `tell` hears of what
/// is found until the process has ended, on any thread. Throws SetupError where the library is not
/// there, UnsupportedError where nothing can be watched. Main thread.
void begin_observation(const Cell& cell, const FlightRecorder& recorder, TellObserved tell);

/// Tells how many calls were observed; nothing where the cell is not observed. Main thread.
void tell_observed_calls();

}  // namespace mpsprobe
