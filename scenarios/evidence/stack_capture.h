#pragma once

#include <array>
#include <cstdint>

#include "harness/wire/flight_recorder.h"

namespace mpsprobe {

/// Threads that have no part in what is tested, by thread_id; 0: none.
using OwnThreads = std::array<uint64_t, 2>;

/// Makes `capture_stacks` possible. Call once, on the main thread, before other threads start,
/// after install_crash_handler.
void prepare_stack_capture(FlightRecorder& recorder);

/// Writes the stack of every thread of this process but the calling one and `own` into the flight
/// recorder, with the lock that it waits for where the system shows that. Neither allocates nor
/// locks, for a thread that hangs may hold any lock. Takes at most half a second: a thread that
/// does not answer is left out. One caller at a time.
///
/// Linux: each thread is sent a signal, whose handler unwinds its own stack. macOS: each thread is
/// suspended and its chain of frame pointers read, which reaches the threads of dispatch as well,
/// to which no signal can be sent.
void capture_stacks(FlightRecorder& recorder, const OwnThreads& own);

#ifdef __linux__
/// The same from a handler of a signal, with the calling thread's stack as `context` has it: in a
/// program that has no thread to spare. Async-signal-safe.
void capture_stacks_in_handler(FlightRecorder& recorder, void* context);
#endif

/// Called by the crash handler: true where the calling thread was having its own stack taken when
/// it crashed, as code whose unwind tables are wrong can make the unwinder do. What was seen of the
/// stack is then complete. Async-signal-safe.
bool give_up_capture(recorder_layout::Block& block);

}  // namespace mpsprobe
