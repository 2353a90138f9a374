#pragma once

#include <cstdint>
#include <functional>

namespace mpsprobe {

/// Waits until a thread has ended. Called once, or never where the process ends before.
using JoinThread = std::function<void()>;

/// Starts a thread that calls `body` once. `slot` is the thread's in the flight recorder. Throws
/// what is a std::exception where no thread can be had. Called on the main thread.
using StartThread = std::function<JoinThread(uint32_t slot, std::function<void()> body)>;

/// Threads of the system's, as std::thread makes them.
StartThread system_threads();

}  // namespace mpsprobe
