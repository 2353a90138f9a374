#include "harness/crash_report/find_report.h"

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
constexpr double kEventLead = 1;
constexpr int kMostWaitsInVain = 3;
constexpr size_t kMostEvents = 16;
constexpr const char* kEvidence = "evidence";

bool died_of_signal(const ProcessRecord& record) {
  return std::holds_alternative<Signaled>(record.termination);
}

/// The system writes a report of what it ended, not of what we did.
bool is_waited_for(const ProcessRecord& record) {
  return died_of_signal(record) && record.ended_by == EndedBy::nobody &&
         !record.crash_report.has_value();
}

template <typename Report>
bool is_of(const Report& report, const Departed& process) {
  return report.pid == process.record->pid && report.pid > 0 && !report.incident.empty() &&
         report.launched != 0 && report.captured != 0 &&
         std::abs(report.launched - process.launched_at) <= kLaunchTolerance &&
         report.launched <= process.died_at + kClockResolution &&
         report.captured >= process.launched_at - kClockResolution;
}

bool holds(const std::vector<GpuEvent>& events, const GpuEvent& event) {
  return std::any_of(events.begin(), events.end(), [&](const GpuEvent& other) {
    return other.incident == event.incident && other.captured == event.captured &&
           other.process == event.process;
  });
}

std::string extension_of(const fs::path& file) {
  return file.extension() == ".crash" ? "crash" : "ips";
}

std::string as_kept(const std::string& name) {
  return name.empty() ? "" : std::string(kEvidence) + "/" + name;
}

}  // namespace

std::vector<fs::path> default_report_folders() {
  std::vector<fs::path> folders;
#ifdef __APPLE__
  const fs::path reports = "Library/Logs/DiagnosticReports";
  std::vector<fs::path> roots{"/"};
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    roots.insert(roots.begin(), home);
  }
  for (const fs::path& root : roots) {
    folders.push_back(root / reports);
    folders.push_back(root / reports / "Retired");
  }
#endif
  return folders;
}

Milliseconds default_report_wait() {
#ifdef __APPLE__
  return std::chrono::seconds(8);
#else
  return Milliseconds(0);
#endif
}

std::set<std::string> attached_incidents(const std::vector<TrialRecord>& trials) {
  std::set<std::string> incidents;
  for (const TrialRecord& trial : trials) {
    for (const ProcessRecord& process : trial.processes) {
      if (process.crash_report.has_value()) incidents.insert(process.crash_report->incident);
    }
  }
  return incidents;
}

CrashReports::CrashReports(CrashReportOptions options, std::set<std::string> attached)
    : options_(std::move(options)), index_(options_.folders), attached_(std::move(attached)) {}

void CrashReports::attach(std::string_view trial, std::span<const Departed> processes) {
  if (options_.folders.empty() || processes.empty()) return;
  double since = processes.front().launched_at;
  for (const Departed& process : processes) since = std::min(since, process.launched_at);
  since -= kLaunchTolerance;
  Lock lock(mutex_);
  const auto start = std::chrono::steady_clock::now();
  Milliseconds paused{0};
  bool awaited = false;
  for (;;) {
    look(since);
    bool missing = false;
    for (const Departed& process : processes) {
      if (died_of_signal(*process.record) && !process.record->crash_report.has_value()) {
        attach_crash(trial, process);
      }
      missing = missing || is_waited_for(*process.record);
    }
    awaited = awaited || missing;
    if (!missing) {
      if (awaited) waits_in_vain_ = 0;
      break;
    }
    // By the clock, and by the pauses asked for: neither a slow folder nor a clock that stands
    // still makes the wait longer.
    const auto passed = std::max<std::chrono::steady_clock::duration>(
        paused, std::chrono::steady_clock::now() - start);
    if (waits_in_vain_ >= kMostWaitsInVain) break;
    if (passed >= options_.wait) {
      if (options_.wait.count() > 0) ++waits_in_vain_;
      break;
    }
    if (!pause(lock)) break;
    paused += options_.poll;
  }
  for (const Departed& process : processes) attach_gpu_events(trial, process);
}

void CrashReports::look(double since) {
  if (index_.refresh(since) > 0) waits_in_vain_ = 0;
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

bool CrashReports::attach_crash(std::string_view trial, const Departed& process) {
  for (const auto& [file, key] : index_.crashes()) {
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
                             std::to_string(process.record->process) + "-" +
                             safe_file_name(report->incident);
    report->file =
        as_kept(keep_file(options_.run_folder / kEvidence, stem, extension_of(*file), *content));
    attached_.insert(report->incident);
    process.record->crash_report = std::move(*report);
    return true;
  }
  return false;
}

void CrashReports::attach_gpu_events(std::string_view trial, const Departed& process) {
  const double first = process.launched_at - kEventLead;
  const double last =
      process.died_at + std::chrono::duration<double>(options_.wait).count() + kClockResolution;
  for (const auto& [file, found] : index_.gpu_events()) {
    std::vector<GpuEvent>& events = process.record->gpu_events;
    if (found->captured < first || found->captured > last || holds(events, *found)) continue;
    if (events.size() == kMostEvents) break;
    GpuEvent event = *found;
    if (const auto content = read_regular_file(*file, report_limits::kMostBytes)) {
      const std::string stem =
          safe_file_name(std::string(trial)) + "-gpu-" + safe_file_name(event.incident);
      event.file =
          as_kept(keep_file(options_.run_folder / kEvidence, stem, extension_of(*file), *content));
    }
    events.push_back(std::move(event));
  }
}

}  // namespace mpsprobe
