#include "harness/crash_report/find_report.h"

#include <signal.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "harness/crash_report/ips.h"
#include "harness/crash_report/report_limits.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;
using Milliseconds = std::chrono::milliseconds;

constexpr double kLaunchTolerance = 2;
/// Both sides round.
constexpr double kClockResolution = 0.01;
/// How long after it was captured an event may appear, in seconds.
constexpr double kLateEvents = 30;
/// For the report of a process that was killed: most such deaths have none.
constexpr Milliseconds kGuardWait{1000};
constexpr int kMostWaitsInVain = 3;
constexpr size_t kMostEvents = 16;
constexpr const char* kEvidence = "evidence";

/// The signals of which the system writes a report, whatever the process.
bool is_crash(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGTRAP ||
         signal == SIGABRT || signal == SIGFPE || signal == SIGSYS;
}

/// The system writes a report of what it ended, not of what we did.
bool is_without_its_report(const Departed& process) {
  return process.signal != 0 && !process.was_ended && !process.crash_report->has_value();
}

bool is_without_its_event(const Departed& process) {
  return process.event_likely && process.gpu_events->empty();
}

template <typename Report>
bool is_of(const Report& report, const Departed& process) {
  return report.pid == process.pid && report.pid > 0 && !report.incident.empty() &&
         report.launched != 0 && report.captured != 0 &&
         std::abs(report.launched - process.launched_at) <= kLaunchTolerance &&
         report.launched <= process.died_at + kClockResolution &&
         report.captured >= process.launched_at - kClockResolution;
}

bool holds(const std::vector<GpuEvent>& events, const GpuEvent& event) {
  return std::any_of(events.begin(), events.end(),
                     [&](const GpuEvent& other) { return other.identity() == event.identity(); });
}

std::string extension_of(const fs::path& file) {
  return file.extension() == ".crash" ? "crash" : "ips";
}

std::string as_kept(const std::string& name) {
  return name.empty() ? "" : std::string(kEvidence) + "/" + name;
}

}  // namespace

std::vector<fs::path> report_folders(System system, const std::string& home) {
  std::vector<fs::path> folders;
  if (system != System::macos) return folders;
  const fs::path reports = "Library/Logs/DiagnosticReports";
  std::vector<fs::path> roots{"/"};
  if (home.starts_with('/')) roots.insert(roots.begin(), home);
  for (const fs::path& root : roots) {
    folders.push_back(root / reports);
    folders.push_back(root / reports / "Retired");
  }
  return folders;
}

std::vector<fs::path> default_report_folders() {
  const char* home = std::getenv("HOME");
  return report_folders(kSystem, home == nullptr ? "" : home);
}

Milliseconds default_report_wait(System system) {
  return system == System::macos ? std::chrono::seconds(8) : Milliseconds(0);
}

CrashReports::CrashReports(CrashReportOptions options, std::set<std::string> attached)
    : options_(std::move(options)), index_(options_.folders), attached_(std::move(attached)) {}

void CrashReports::attach(std::string_view trial, std::span<const Departed> processes) {
  if (options_.folders.empty() || processes.empty()) return;
  double since = processes.front().launched_at;
  for (const Departed& process : processes) since = std::min(since, process.launched_at);
  Lock lock(mutex_);
  if (first_launch_ == 0 || since < first_launch_) first_launch_ = since;
  // As far back as an event of another trial may lie that appears only now.
  since = std::max(since - kLateEvents, first_launch_) - kLaunchTolerance;
  const auto start = std::chrono::steady_clock::now();
  Milliseconds paused{0};
  Missing first;  // what was missing at the first look
  for (bool again = false;; again = true) {
    look(since);
    const Missing missing = collect(trial, processes);
    if (!again) first = missing;
    if (first.crash && !missing.crash) waits_in_vain_ = 0;
    // By the clock, and by the pauses asked for: neither a slow folder nor a clock that stands
    // still makes the wait longer.
    const auto passed = std::max<std::chrono::steady_clock::duration>(
        paused, std::chrono::steady_clock::now() - start);
    if (passed >= missing.wait) {
      const bool in_full = options_.wait.count() > 0 && passed >= options_.wait;
      if (in_full && missing.crash) ++waits_in_vain_;
      if (in_full && missing.event) ++event_waits_in_vain_;
      break;
    }
    if (!pause(lock)) break;
    paused += options_.poll;
  }
  for (const Departed& process : processes) attach_events_of_its_time(trial, process);
  attach_late_events(trial, processes.front());
}

CrashReports::Missing CrashReports::collect(std::string_view trial,
                                            std::span<const Departed> processes) {
  Missing missing;
  bool killed = false;
  for (const Departed& process : processes) {
    if (process.signal != 0 && !process.crash_report->has_value()) attach_crash(trial, process);
    if (is_without_its_report(process)) {
      missing.crash = missing.crash || is_crash(process.signal);
      killed = killed || (process.signal == SIGKILL && !process.memory_kill);
    }
    if (is_without_its_event(process)) {
      attach_events_of_its_time(trial, process);
      missing.event = missing.event || process.gpu_events->empty();
    }
  }
  if (killed) missing.wait = std::min(options_.wait, kGuardWait);
  if ((missing.crash && waits_in_vain_ < kMostWaitsInVain) ||
      (missing.event && event_waits_in_vain_ < kMostWaitsInVain)) {
    missing.wait = options_.wait;
  }
  return missing;
}

void CrashReports::look(double since) {
  const ReportIndex::News news = index_.refresh(since);
  if (news.crashes > 0) waits_in_vain_ = 0;
  if (news.events > 0) event_waits_in_vain_ = 0;
}

/// Others look for their reports meanwhile. False: stop waiting.
bool CrashReports::pause(Lock& lock) const {
  lock.unlock();
  bool go_on = true;
  if (options_.pause) {
    go_on = options_.pause(options_.poll);
  } else {
    std::this_thread::sleep_for(options_.poll);
  }
  lock.lock();
  return go_on;
}

/// The name under which a copy lies in the run's folder; "" where it could not be written.
std::string CrashReports::kept(const std::string& stem, const std::string& extension,
                               const std::string& content) const {
  try {
    return keep_file(Folder(options_.run_folder).make_below(kEvidence), stem, extension, content);
  } catch (const fs::filesystem_error&) {
    return "";
  }
}

bool CrashReports::attach_crash(std::string_view trial, const Departed& process) {
  for (const auto& [file, key] : index_.all<CrashReportKey>()) {
    if (!is_of(*key, process) || attached_.contains(key->incident)) continue;
    // What is kept is what was read: once more as a whole, and it must still be the same report.
    const auto content = read_regular_file(*file, report_limits::kMostBytes);
    if (!content.has_value()) continue;
    ParsedReport parsed = parse_crash_report(*content);
    auto* report = std::get_if<CrashReport>(&parsed);
    if (report == nullptr || report->incident != key->incident || !is_of(*report, process)) {
      continue;
    }
    const std::string stem = safe_file_name(std::string(trial)) + "-" +
                             std::to_string(process.process) + "-" +
                             safe_file_name(report->incident);
    report->file = as_kept(kept(stem, extension_of(*file), *content));
    attached_.insert(report->incident);
    *process.crash_report = std::move(*report);
    return true;
  }
  return false;
}

void CrashReports::attach_events_of_its_time(std::string_view trial, const Departed& process) {
  const double last =
      process.died_at + std::chrono::duration<double>(options_.wait).count() + kClockResolution;
  for (const auto& [file, event] : index_.all<GpuEvent>()) {
    const bool after = event->captured >= process.launched_at - kEventLead;
    if (after && event->captured <= last) attach_event(trial, process, *file, *event);
  }
}

void CrashReports::attach_late_events(std::string_view trial, const Departed& first) {
  const double earliest = std::max(first.launched_at - kLateEvents, first_launch_) - kEventLead;
  for (const auto& [file, event] : index_.all<GpuEvent>()) {
    const bool before = event->captured < first.launched_at - kEventLead;
    const bool known = attached_events_.contains(event->identity());
    if (before && event->captured >= earliest && !known) attach_event(trial, first, *file, *event);
  }
}

void CrashReports::attach_event(std::string_view trial, const Departed& process,
                                const fs::path& file, const GpuEvent& found) {
  std::vector<GpuEvent>& events = *process.gpu_events;
  if (events.size() == kMostEvents || holds(events, found)) return;
  GpuEvent event = found;
  if (const auto content = read_regular_file(file, report_limits::kMostBytes)) {
    const std::string stem =
        safe_file_name(std::string(trial)) + "-gpu-" + safe_file_name(event.incident);
    event.file = as_kept(kept(stem, extension_of(file), *content));
  }
  attached_events_.insert(event.identity());
  events.push_back(std::move(event));
}

}  // namespace mpsprobe
