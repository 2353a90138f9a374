#pragma once

#include "scenarios/observer/objects.h"

namespace mpsprobe::observer {

/// From now on spring() waits. Any thread.
void set_trap();

/// Waits 200 us, where the trap is set and this thread has waited for less than a tenth of its time
/// so far. Called inside an object that one thread at a time may use: who comes meanwhile is caught
/// in the act. `shared`: another thread has used it; only there it is likely, and what one thread
/// has for itself gets a hundredth of its time.
void spring(Thread& me, bool shared);

}  // namespace mpsprobe::observer
