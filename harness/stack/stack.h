#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/wire/enum_words.h"
#include "harness/wire/flight_recorder.h"

namespace mpsprobe {

/// One frame of a stack, as far as it could be named. Every text came from a child, its files or a
/// crash report: untrusted, escape it on output.
struct StackFrame {
  std::string image;     ///< file name: "libtorch_cpu.so"; empty where the address is in no image
  std::string image_id;  ///< build id or UUID in lower-case hex; empty where it has none
  uint64_t offset = 0;   ///< from the image's load address; the raw address where there is no image
  std::string function;  ///< demangled, with its arguments; empty where there is no symbol
  std::string source;    ///< "file.cpp:12"; empty where there is no line information
  bool inlined = false;  ///< compiled into the frame that follows
  friend bool operator==(const StackFrame&, const StackFrame&) = default;
};

/// What a thread waits for.
struct Wait {
  enum class Kind : uint8_t { none, lock, condition, join, input, sleep, other };
  Kind kind = Kind::none;
  uint64_t address = 0;     ///< of the lock; 0 where it is not seen
  uint64_t owner = 0;       ///< thread_id of the thread that holds the lock; 0 where it is not seen
  bool owner_gone = false;  ///< there is no such thread any more: it ended while it held the lock
  friend bool operator==(const Wait&, const Wait&) = default;
};

template <>
inline constexpr auto kWordsOf<Wait::Kind> = std::to_array<std::string_view>(
    {"none", "lock", "condition", "join", "input", "sleep", "other"});

/// Of a stack that a sanitizer printed: its `name` says what was done there, and by whom.
constexpr int kSideOfRace = -2;
/// Of a process that the worker started, and that it may wait for.
constexpr int kChildProcess = -3;
/// Of a thread that computed, as whoever took its stack says.
constexpr int kSaidToCompute = -4;

/// The stack of one thread, innermost frame first.
struct ThreadStack {
  int thread =
      -1;  ///< index in the cell; kMainThread: the main thread; -1: another; or one of these
  uint64_t thread_id = 0;  ///< the system's number
  std::string name;        ///< the system's name of the thread, or of its queue
  bool faulting = false;   ///< the crash happened on it
  Wait wait;
  std::vector<StackFrame> frames;
  friend bool operator==(const ThreadStack&, const ThreadStack&) = default;
};

/// The stacks of one process that crashed or hung.
struct StackEvidence {
  std::vector<ThreadStack> threads;  ///< the faulting one first; empty where no stack was taken
  /// thread_ids that wait for one another in a circle, each for the next, the last for the first.
  std::vector<uint64_t> lock_cycle;
  friend bool operator==(const StackEvidence&, const StackEvidence&) = default;
};

}  // namespace mpsprobe
