#pragma once

#include <sys/types.h>

#include <cstdint>

namespace mpsprobe {

/// Memory that a process holds, in bytes: on macOS its footprint, with memory of the GPU; elsewhere
/// what is resident. 0 where it is gone or cannot be read.
uint64_t held_bytes(pid_t pid);

/// Memory of the machine in bytes.
uint64_t physical_memory_bytes();

/// How often the kernel has killed for want of memory since boot; 0 where it does not say. A kill
/// by SIGKILL during which this number grew was one of them.
uint64_t kernel_memory_kills();

/// Asks the kernel to take this process before the runner when memory runs out. Best effort.
void offer_to_memory_killer(pid_t pid);

}  // namespace mpsprobe
