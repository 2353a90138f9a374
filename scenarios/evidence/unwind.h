#pragma once

#include <atomic>
#include <cstdint>

namespace mpsprobe {

/// The registers that a signal handler was given, as far as a stack needs them.
struct Interrupted {
  uint64_t program_counter = 0;
  uint64_t stack_pointer = 0;
  uint64_t frame_pointer = 0;
  uint64_t link = 0;  ///< return address in a register; 0 where the processor has none
};

/// From the third argument of a signal handler. Async-signal-safe.
Interrupted interrupted_at(const void* context);

/// What the program counter of interrupted code is worth.
enum class Counter : uint8_t {
  code,    ///< it stands on an instruction
  no_code  ///< nothing can be executed there: a call or a jump through a bad pointer led to it
};

/// Has the unwinder make what it makes on its first call. Call once, outside of a handler.
void prepare_unwinder();

/// Writes the stack of the code that a signal interrupted into `frames`, which has room for
/// recorder_layout::kFrames: its program counter, then return addresses. `count` is raised with
/// each frame, so that what was seen is there even where a broken stack ends the walk with a fault.
/// Call from the handler, with its third argument, whose registers are as before when it returns.
///
/// Linux: the unwinder of the compiler's library, which looks its tables up without a lock since
/// glibc 2.35; all else here is async-signal-safe. From `no_code` it could not go on, so it is
/// shown the registers as they were before the call. macOS: the chain of frame pointers
/// (frame_chain.h), as the system's own backtrace gives up on a stack that is no thread's, such as
/// a handler's.
void unwind(void* context, Counter counter, uint64_t* frames, std::atomic<uint32_t>& count);

}  // namespace mpsprobe
