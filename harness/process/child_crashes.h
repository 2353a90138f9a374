#pragma once

#include <string>
#include <vector>

#include "harness/wire/flight_recorder.h"

namespace mpsprobe {

/// The crashes of processes that a command started (harness/wire/child_crashes.h), of which it was
/// not told: the first 8 in the order of their numbers. `mark` is that of the command. Takes the
/// folder away. What lies there is not trusted: links, and what another user put there, are left.
std::vector<RecorderReading> take_child_crashes(const std::string& mark);

}  // namespace mpsprobe
