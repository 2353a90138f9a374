#pragma once

#include <cstdint>

#include "harness/wire/flight_recorder.h"

namespace mpsprobe {

/// The system's number of the calling thread, as its tools show it. Async-signal-safe.
uint64_t thread_id();

/// The slot of the flight recorder that this thread has: recorder_layout::kMainThread is the main
/// thread's; UINT32_MAX where it has none. Async-signal-safe; from any thread.
uint32_t slot_of_thread(uint64_t thread_id);

/// Ties the calling thread to a slot, until the slot is untied.
void tie_thread(uint32_t slot);
void untie_thread(uint32_t slot);

}  // namespace mpsprobe
