#pragma once

#include <sys/types.h>

#include <cstdint>

#include "harness/platform/system.h"

namespace mpsprobe {

/// Memory that a process holds, in bytes: on macOS its footprint, with memory of the GPU; elsewhere
/// what is resident. 0 where it is gone or cannot be read.
uint64_t held_bytes(pid_t pid);

/// rusage's ru_maxrss in bytes: macOS counts bytes, other systems kilobytes.
constexpr uint64_t max_rss_bytes(int64_t ru_maxrss, System system = kSystem) {
  return static_cast<uint64_t>(ru_maxrss) * (system == System::macos ? 1 : 1024);
}

/// Memory of the machine in bytes.
uint64_t physical_memory_bytes();

/// How often the kernel has killed for want of memory since boot; 0 where it does not say. A kill
/// by SIGKILL during which this number grew was one of them.
uint64_t kernel_memory_kills();

/// Asks the kernel to take this process before the runner when memory runs out. Best effort.
void offer_to_memory_killer(pid_t pid);

}  // namespace mpsprobe
