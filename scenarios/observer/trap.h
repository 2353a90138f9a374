#pragma once

#include <atomic>

#include "scenarios/observer/objects.h"

namespace mpsprobe::observer {

/// From now on spring() waits. Any thread.
void set_trap();
inline std::atomic<bool> trap_is_set = false;
void wait_in_trap(Thread& me, bool shared);

/// Waits 200 us, where the trap is set and this thread has waited for less than a tenth of its time
/// so far. Called inside an object that one thread at a time may use: who comes meanwhile is caught
/// in the act. `shared`: another thread has used it; only there it is likely, and what one thread
/// has for itself gets a hundredth of its time.
inline void spring(Thread& me, bool shared) {
  if (trap_is_set.load(std::memory_order_relaxed)) wait_in_trap(me, shared);
}

}  // namespace mpsprobe::observer
