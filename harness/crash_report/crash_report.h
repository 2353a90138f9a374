#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/stack/stack.h"

namespace mpsprobe {

/// A macOS crash report of one process. Every text is untrusted: escape it on output. Empty or zero
/// where the report has no such entry.
struct CrashReport {
  std::string file;      ///< where it is kept, relative to the run's folder
  std::string incident;  ///< the report's own identity: counted once, whatever it is copied to
  std::string bug_type;  ///< "309": a crash
  int64_t pid = 0;
  std::string process;
  double launched = 0;     ///< seconds since 1970; 0 where unknown
  double captured = 0;     ///< seconds since 1970; 0 where unknown
  std::string os_version;  ///< "macOS 15.1 (24B83)"
  std::string model;       ///< "Mac16,5"
  std::string exception;   ///< "EXC_BAD_ACCESS"
  std::string signal;      ///< "SIGSEGV"
  /// "KERN_INVALID_ADDRESS at 0x5c8 ...", else the first line about the faulting memory region: a
  /// formatter's words, no evidence. Then in parentheses what the report says beside it: "(stack
  /// guard)", the exception's message.
  std::string subtype;
  std::string termination_namespace;  ///< "SIGNAL", "DYLD" (never the product), "LIBSYSTEM" ...
  std::string termination_indicator;
  std::vector<std::string> termination_reasons;
  /// `asi`: last words of libraries, in order; then the reason of an Objective-C exception.
  std::vector<std::string> application_info;
  std::vector<ThreadStack> threads;        ///< the faulting one first
  std::vector<StackFrame> last_exception;  ///< `lastExceptionBacktrace`
};

/// A GPU restart or error that the system reported (bug_type 284). It names no pid and cuts the
/// process's name to 16 characters: evidence of its own class, never of one process's guilt.
struct GpuEvent {
  std::string file;  ///< where it is kept, relative to the run's folder
  std::string incident;
  std::string process;  ///< cut to 16 characters by the system
  double captured = 0;  ///< seconds since 1970; 0 where unknown
  std::string summary;  ///< one line: what kind of restart, as far as the report says

  /// The same for one event, whatever its report was copied to.
  std::string identity() const {
    return incident + "\n" + std::to_string(captured) + "\n" + process;
  }
};

/// Seconds that an event may seem to lie before what caused it: one may be told to whole seconds.
constexpr double kEventLead = 1;

/// A file that is no report of either kind, or not a whole one (yet).
struct Unreadable {
  std::string reason;  ///< for people: what is wrong with it
};

using ParsedReport = std::variant<CrashReport, GpuEvent, Unreadable>;

}  // namespace mpsprobe
