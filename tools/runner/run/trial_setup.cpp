#include "tools/runner/run/trial_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/executor/executor.h"
#include "harness/wire/library_under_test.h"
#include "reports/words/text.h"
#include "tools/runner/machine_error.h"
#include "tools/runner/workers/workers.h"

namespace mpsprobe {

std::filesystem::path default_run_folder(std::string_view started, std::string_view name) {
  std::string time(started.substr(0, std::string_view("2026-01-01T00:00:00").size()));
  std::replace(time.begin(), time.end(), ':', '-');
  return std::filesystem::path("mpsprobe-out") / fmt::format("{}Z-{}", time, name);
}

std::filesystem::path make_default_run_folder(std::string_view started, std::string_view name) {
  const std::filesystem::path first = default_run_folder(started, name);
  std::error_code error;
  std::filesystem::create_directories(first.parent_path(), error);
  std::filesystem::path folder = first;
  for (int number = 2; !error && !std::filesystem::create_directory(folder, error); ++number) {
    folder = first.string() + "-" + std::to_string(number);
  }
  if (error) {
    throw MachineError(
        fmt::format("{}: cannot be created: {}. Name a folder that can be written "
                    "with --out",
                    folder.string(), error.message()));
  }
  return folder;
}

void make_named_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return;
  throw MachineError(
      fmt::format("--out {}: cannot be created: {}. Name a folder that can be written",
                  shortened(printable(folder.string()), 200), error.message()));
}

ChildLimits limits_of(const CampaignHeader& header) {
  ChildLimits limits;
  limits.timeout = header.timeout_seconds;
  limits.stall = header.stall_seconds;
  limits.memory_bytes = header.memory_limit_bytes;
  return limits;
}

CrashReportOptions crash_report_options(const CampaignHeader& header,
                                        const std::filesystem::path& folder,
                                        const std::atomic<bool>& interrupted) {
  CrashReportOptions options;
  options.folders.assign(header.crash_reports.begin(), header.crash_reports.end());
  options.run_folder = folder;
  options.pause = [&interrupted](std::chrono::milliseconds time) {
    std::this_thread::sleep_for(time);
    return !interrupted.load();
  };
  return options;
}

void check_same_libraries(const CampaignHeader& header) {
  std::vector<std::string> same;
  for (const WorkerInfo& worker : header.workers) same.push_back(worker.name + "=" + worker.path);
  const std::vector<WorkerInfo> now = find_workers(same, header.environment);
  for (size_t i = 0; i < now.size(); ++i) {
    const auto identity = [](const WorkerInfo& worker) {
      return library_identity(worker.describe.value("provenance", nlohmann::json::object()));
    };
    if (identity(now[i]) == identity(header.workers[i])) continue;
    throw MachineError(
        fmt::format("worker {} ({}) loads another LibTorch now than when the run "
                    "began. Results of two builds are never added up: begin a new "
                    "run",
                    now[i].name, now[i].path));
  }
}

}  // namespace mpsprobe
