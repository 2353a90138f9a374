#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace mpsprobe {

/// Waits until a thread has ended. Called once, or never where the process ends before.
using JoinThread = std::function<void()>;

/// Starts a thread that calls `body` once. `slot` is the thread's in the flight recorder. Throws
/// what is a std::exception where no thread can be had. Called on the main thread.
using StartThread = std::function<JoinThread(uint32_t slot, std::function<void()> body)>;

/// Threads of the system's, each with a stack of so many bytes; 0: as std::thread makes them. To
/// start one throws std::system_error where there are too many of them, or fewer bytes than the
/// system and the thread's variables need.
StartThread system_threads(size_t stack = 0);

/// Bytes of stack that the system gives a thread for which nobody asks (std::thread): 512 KiB on
/// macOS, on Linux what `ulimit -s` says. 0 where it does not tell.
size_t default_thread_stack();

}  // namespace mpsprobe
