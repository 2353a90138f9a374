#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mpsprobe {

/// How much a process computes, with all that descends from it.
class ProcessorUse {
 public:
  /// How many processors it used since the last look, as on an idle machine: on Linux the time for
  /// which a thread waited for a processor, on a busy one, does not count as time. 0 the first
  /// time, and where the process is gone or the system does not tell. `main_thread_alone`: of all
  /// of that only the process's main thread counts, on Linux; elsewhere nothing. One thread at a
  /// time.
  double look(pid_t pid, bool main_thread_alone = false);

 private:
  using Clock = std::chrono::steady_clock;
  struct Task {
    uint64_t computed = 0;  ///< nanoseconds
    uint64_t waited = 0;    ///< for a processor
  };

  std::optional<Clock::time_point> looked_;
  std::map<pid_t, Task> tasks_;  ///< threads, by their number
  double seconds_ = 0;           ///< of all processes and what they have waited for
};

/// A process that another started.
struct Descendant {
  pid_t pid = 0;
  pid_t thread = 0;     ///< one that runs now; the main thread where none does
  std::string name;     ///< "cc1plus"
  std::string command;  ///< its command line, at most 80 bytes; on macOS its name
};

/// At most four of the children of `pid` and of theirs, those that run now first: what the process
/// waits for. Empty where there is none or the system does not tell.
std::vector<Descendant> descendants_of(pid_t pid);

/// How many threads a process has; 0 where it is gone or the system does not tell.
int thread_count(pid_t pid);

/// Whether a process exited or was killed and none of its code runs any more, also where it cannot
/// be waited for yet: the system still frees its memory. On Linux each thread has PF_EXITING
/// (proc(5), field 9 of stat; a main thread that ended alone is not enough); on macOS the process
/// has PROC_FLAG_INEXIT. False where it is gone or the system does not tell.
bool is_exiting(pid_t pid);

}  // namespace mpsprobe
