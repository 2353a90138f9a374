#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "harness/wire/flight_recorder.h"

namespace mpsprobe {

/// Where a thread of a process is that is no worker.
struct ProcessStack {
  std::vector<FrameAddress> frames;  ///< innermost first; empty where it was not told
  std::string refused;  ///< " (its stack cannot be read: ...)", where the system refuses
};

/// Stops the thread, by ptrace(2), walks its stack and lets it go on. Waits at most a tenth of a
/// second for it to stop: one that is stuck in the kernel does not. Nothing is told on macOS, where
/// that takes a right which the system gives to debuggers alone. Thread-safe.
ProcessStack process_stack(pid_t pid, pid_t thread);

/// An address in a process's code, as its worker would note it; without a path where it is in no
/// image. On macOS always so. Thread-safe.
FrameAddress address_in(pid_t pid, uint64_t address);

}  // namespace mpsprobe
