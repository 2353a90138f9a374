#pragma once

#include <atomic>
#include <filesystem>
#include <vector>

#include "harness/crash_report/find_report.h"
#include "harness/executor/executor.h"
#include "harness/journal/journal.h"
#include "harness/path_probe/path_probes.h"

namespace mpsprobe {

/// What runs the trials of a journal as its header says: with its limits, environment and way to
/// start processes, with the system's crash reports, and with the probes of paths. The same for
/// every command that runs trials. Safe to use from several threads.
class TrialBench {
 public:
  /// `folder` is that of the journal: copies of crash reports go there. `existing`: what the
  /// journal holds already, whose reports and paths are known. `interrupted` must outlive it, and
  /// ends trials and waits.
  TrialBench(const CampaignHeader& header, const std::filesystem::path& folder,
             const std::vector<TrialRecord>& existing, const std::atomic<bool>& interrupted);
  TrialBench(const TrialBench&) = delete;
  TrialBench& operator=(const TrialBench&) = delete;

  /// One trial, judged. Never throws for what a worker does.
  TrialRecord run(const TrialRequest& request);

 private:
  CrashReports crash_reports_;
  Executor executor_;
  PathProbes paths_;
};

}  // namespace mpsprobe
