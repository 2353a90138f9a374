#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/signature/frames.h"
#include "harness/stack/stack.h"

namespace mpsprobe {

/// What a thread does, as its stack tells; what says most about a hang last.
enum class Doing : uint8_t {
  nothing,           ///< no frame of it counts
  idle,              ///< waits where its own loop does, for work
  waits_for_others,  ///< joins, sleeps, waits for an interpreter's lock or in Python's own modules
  waits,
  waits_for_lock,
  computes,
};

struct ThreadAtWork {
  const ThreadStack* stack = nullptr;
  Doing doing = Doing::nothing;
  StackTitle title;
  size_t depth = 0;  ///< how many of its frames count
};

/// What a thread of that stack does. Throws only for lack of memory; from any thread.
ThreadAtWork at_work(const ThreadStack& stack);

/// All threads, the one first that a hang is about: one that computes, else one that waits for a
/// lock, else for anything, and of several the one that is deepest in something. Where the first
/// waits for a process, that process's stack is in its place. Point into `stacks`.
std::vector<ThreadAtWork> threads_at_work(const std::vector<ThreadStack>& stacks);

/// "waits for a lock in lanes::take"; empty where it does nothing that has a name.
std::string in_words(const ThreadAtWork& thread);

/// "in lanes::take", "in Python: take_lane", "inside lanes_enter"; empty where no function is
/// known.
std::string place_in_words(const StackTitle& title);

}  // namespace mpsprobe
