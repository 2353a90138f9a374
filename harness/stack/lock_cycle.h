#pragma once

#include <cstdint>
#include <vector>

#include "harness/stack/stack.h"

namespace mpsprobe {

/// thread_ids of threads that wait for one another in a circle, each for the next, the last for the
/// first; empty where there is none. Waits name at most one owner each, so a thread is in at most
/// one circle; of several circles it is the one that the first possible thread of `threads` is in,
/// and that thread begins it. A thread that waits for itself is a circle of one.
std::vector<uint64_t> lock_cycle(const std::vector<ThreadStack>& threads);

}  // namespace mpsprobe
