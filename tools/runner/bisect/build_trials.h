#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "harness/campaign/trial_runner.h"
#include "harness/journal/journal.h"
#include "tools/runner/bisect/bisect_request.h"
#include "tools/runner/run/recorded_trials.h"

namespace mpsprobe {

/// A build cannot be made, or cannot run the cell: a bisection goes on without it.
class UnusableBuild : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Has a command for the shell make the worker of the build `name`, which stands in the place of
/// {} or at its end. Returns the path that is the last line of what it prints, absolute. Throws
/// UnusableBuild.
std::string make_worker(const std::string& command, const std::string& name);

/// The trials of one build of a bisection, in a journal of its own: a run like any other, whose
/// number of trials was not fixed. Counts them in the build. Not thread safe.
class BuildTrials {
 public:
  /// Reads the journal in `folder` where there is one. All references must outlive it.
  BuildTrials(const BisectOptions& options, Build& build, std::filesystem::path folder,
              const std::atomic<bool>& interrupted);

  /// One more trial. The worker is made and the journal begun where that was not done. Where it has
  /// to end, the trials, which say why. Throws UnusableBuild, also after trials of which none
  /// counted; JournalError.
  const RecordedTrials* run_one();

  const std::string& last() const { return last_; }  ///< what the last trial came to

 private:
  void begin();
  CampaignHeader plan();
  void count(const TrialResult& result);

  const BisectOptions& options_;
  Build& build_;
  std::filesystem::path folder_;
  const std::atomic<bool>& interrupted_;
  int index_ = 0;  ///< of the next trial
  int without_evidence_ = 0;
  std::string last_;
  std::unique_ptr<JournalWriter> journal_;  ///< open, and locked, once trials run here
  std::optional<TrialRunner> trial_runner_;
  std::optional<RecordedTrials> trials_;
};

}  // namespace mpsprobe
