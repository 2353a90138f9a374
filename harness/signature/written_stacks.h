#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/stack/stack.h"

namespace mpsprobe {

/// The image of frames in Python's own modules.
constexpr std::string_view kPythonsLibrary = "Python's library";

/// A frame as debuggers, sanitizers, C libraries and crash reports print it, "frame #0: 0x1f
/// image`function + 32", "0   image   0x1f function + 32"; without a function where the line has
/// none. Nothing where the line is none: of these forms people write no sentences. Throws only for
/// lack of memory; from any thread.
std::optional<StackFrame> read_written_frame(std::string_view line);

/// What a line of a stack names. Points into the line.
struct FrameLine {
  std::string_view image;  ///< of a function of Python's its file; empty where none is named
  std::string_view function;
  bool python = false;
};

/// The same, and of Python's tracebacks.
std::optional<FrameLine> read_frame_line(std::string_view line);

/// The stacks that a text shows.
struct WrittenStacks {
  /// The one that a failure happened on first, where that is told; innermost frames first.
  std::vector<ThreadStack> threads;
  std::vector<StackFrame> traceback;  ///< of the last exception of Python's, innermost first
  /// Their form is that of a process that lives: a sampler took them, a debugger that stopped it,
  /// or a watchdog.
  bool alive = false;
  /// All threads are shown, as one asks for where a process hangs.
  bool all_threads = false;
  bool lock_cycle = false;  ///< a report of mpsprobe's, which tells of one
  bool owner_gone = false;  ///< the same, of a lock whose holder ended
};

/// Frames of code that belongs to an interpreter or to the C library, of which a debugger tells the
/// source alone, and of Python's modules have an image that says so. A function of Python's has its
/// file as image.
///
/// Reads dumps of sample, spindump, py-spy, gdb, lldb, faulthandler, Go and mpsprobe, crash
/// reports' threads, and bare frames. Of a tree of samples the heaviest path counts. Untrusted
/// input; linear in the text but for trees; at most 1024 frames of a thread and 4096 threads are
/// kept. Throws only for lack of memory; from any thread.
WrittenStacks read_written_stacks(std::string_view text);

}  // namespace mpsprobe
