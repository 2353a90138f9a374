#pragma once

#include <cstdint>

namespace mpsprobe {

/// The registers that a signal handler was given, as far as a stack needs them.
struct Interrupted {
  uint64_t program_counter = 0;
  uint64_t stack_pointer = 0;
  uint64_t link = 0;  ///< return address in a register; 0 where the processor has none
};

/// From the third argument of a signal handler. Async-signal-safe.
Interrupted interrupted_at(const void* context);

/// Loads the unwinder, which allocates on its first call. Call once, outside of a handler.
void prepare_unwinder();

/// Writes the stack of the code that a signal interrupted: its program counter, then return
/// addresses; at most `most`, at least 1. Returns how many. Call from the handler, with its third
/// argument. Async-signal-safe but for the unwinder: glibc's looks its tables up without a lock
/// since 2.35, macOS' follows the chain of frame pointers.
///
/// A call through a bad function pointer leaves a program counter that no unwinder can go on from:
/// there the return address is taken from where the call has put it.
uint32_t unwind(const void* context, uint64_t* frames, uint32_t most);

}  // namespace mpsprobe
