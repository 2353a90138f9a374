#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/crash_report/crash_report.h"
#include "harness/crash_report/report_index.h"
#include "harness/platform/system.h"

namespace mpsprobe {

/// Where a system puts reports. macOS: ~/Library/Logs/DiagnosticReports, where `home` is an
/// absolute path, and /Library/Logs/DiagnosticReports, each with its Retired/ folder. Elsewhere
/// none.
std::vector<std::filesystem::path> report_folders(System system, const std::string& home);

/// Those of this system and this user.
std::vector<std::filesystem::path> default_report_folders();

/// How long to wait for the report of a process that died, where nothing else is said: 8 s on
/// macOS, where it is written some seconds after the death; elsewhere 0.
std::chrono::milliseconds default_report_wait(System system = kSystem);

/// What is asked about a process that is gone. Times are in seconds since 1970, by the clock that
/// the system stamps its reports with (std::chrono::system_clock).
struct Departed {
  int64_t pid = 0;
  int process = 0;            ///< index within the trial: a part of the names of files kept
  double launched_at = 0;     ///< taken just before the spawn
  double died_at = 0;         ///< when it was reaped
  int signal = 0;             ///< that it died of; 0: of none
  bool was_ended = false;     ///< by the runner: the system then writes no report
  bool memory_kill = false;   ///< the kernel ended it for want of memory: it writes none either
  bool event_likely = false;  ///< the system restarts the device after what it did, and says so
  /// Where the answer goes. Both outlive the question.
  std::optional<CrashReport>* crash_report = nullptr;
  std::vector<GpuEvent>* gpu_events = nullptr;
};

struct CrashReportOptions {
  std::vector<std::filesystem::path> folders;  ///< where reports appear
  std::filesystem::path run_folder;            ///< reports are kept in its folder `evidence`
  std::chrono::milliseconds wait = default_report_wait();
  std::chrono::milliseconds poll{100};  ///< between two looks at the folders
  /// Lets that much time pass; false ends the wait at once. Empty: sleeps.
  std::function<bool(std::chrono::milliseconds)> pause;
};

/// Finds the system's reports of processes that died.
///
/// A report is a process's own where its pid is the same and its launch time is within 2 s of ours
/// (the system tells it to 0.1 ms, older ones to 1 s; the rest is for a loaded machine between our
/// look at the clock and the spawn), and where it was captured after our launch; a report without
/// launch time, capture time or incident is nobody's. An incident is attached once in a run,
/// whatever it was copied to. Neither a name, an age nor a number of files plays a part.
///
/// Safe to use from several threads; none waits for another's wait.
class CrashReports {
 public:
  /// `attached`: incidents that are taken already, from `attached_incidents` of a resumed run.
  explicit CrashReports(CrashReportOptions options, std::set<std::string> attached = {});

  /// For the processes of one trial that ran at the same time: sets `crash_report` of each that
  /// died of a signal and adds to its `gpu_events` what the system reported while each lived (from
  /// 1 s before its launch until the wait after its death would be over; an incident once in a
  /// record). An event of an earlier trial that appears only now, within 30 s, goes to the first of
  /// these processes: `captured` tells whose time it was.
  ///
  /// Waits for the report of a process that crashed by itself; shortly for that of one that was
  /// killed, since the kernel reports what it killed for a guard; and for a GPU event where one is
  /// likely. All together at most `wait`; after 3 waits in vain in
  /// a row for crash reports, or for events, it only looks for those, until one comes after all:
  /// some systems write none. `trial` goes into the names of the files kept.
  void attach(std::string_view trial, std::span<const Departed> processes);

 private:
  using Lock = std::unique_lock<std::mutex>;

  /// What is still missing, and how long it is worth waiting for.
  struct Missing {
    bool crash = false;
    bool event = false;
    std::chrono::milliseconds wait{0};
  };

  Missing collect(std::string_view trial, std::span<const Departed> processes);
  bool attach_crash(std::string_view trial, const Departed& process);
  void attach_events_of_its_time(std::string_view trial, const Departed& process);
  void attach_late_events(std::string_view trial, const Departed& first);
  std::string kept(const std::string& stem, const std::string& extension,
                   const std::string& content) const;
  void attach_event(std::string_view trial, const Departed& process,
                    const std::filesystem::path& file, const GpuEvent& found);
  void look(double since);
  bool pause(Lock& lock) const;

  const CrashReportOptions options_;
  std::mutex mutex_;
  ReportIndex index_;
  std::set<std::string> attached_;
  std::set<std::string> attached_events_;
  double first_launch_ = 0;  ///< of all processes so far; 0: there was none
  int waits_in_vain_ = 0;
  int event_waits_in_vain_ = 0;
};

}  // namespace mpsprobe
