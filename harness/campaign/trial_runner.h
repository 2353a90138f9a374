#pragma once

#include <atomic>
#include <filesystem>

#include "harness/crash_report/find_report.h"
#include "harness/executor/executor.h"
#include "harness/journal/journal.h"
#include "harness/path_probe/path_probes.h"

namespace mpsprobe {

/// What runs the trials of a journal as its header says: with its limits, environment and way to
/// start processes, with the system's crash reports, and with the probes of paths. The same for
/// every command that runs trials. Safe to use from several threads.
class TrialRunner {
 public:
  /// `known` is what the journal holds already: of its trials reports and paths are known. `folder`
  /// is that of the journal: copies of crash reports go there. `interrupted` must outlive it, and
  /// ends trials and waits.
  TrialRunner(const Journal& known, const std::filesystem::path& folder,
              const std::atomic<bool>& interrupted);
  TrialRunner(const TrialRunner&) = delete;
  TrialRunner& operator=(const TrialRunner&) = delete;

  /// One trial, judged. Never throws for what a worker does.
  TrialRecord operator()(const TrialRequest& request) { return paths_.run(request); }

 private:
  CrashReports crash_reports_;
  Executor executor_;
  PathProbes paths_;
};

}  // namespace mpsprobe
