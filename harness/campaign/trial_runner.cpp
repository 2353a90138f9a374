#include "harness/campaign/trial_runner.h"

#include <thread>

#include "harness/outcome/departed.h"

namespace mpsprobe {
namespace {

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

}  // namespace

TrialRunner::TrialRunner(const Journal& known, const std::filesystem::path& folder,
                         const std::atomic<bool>& interrupted)
    : crash_reports_(crash_report_options(known.header, folder, interrupted),
                     attached_incidents(known.trials)),
      executor_(limits_of(known.header), known.header.environment, interrupted, &crash_reports_,
                known.header.start_process),
      paths_([this](const TrialRequest& request) { return executor_.run(request); }, known.trials) {
}

}  // namespace mpsprobe
