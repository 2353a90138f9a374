#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

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
/// number of trials was not fixed. Not thread safe.
class BuildTrials {
 public:
  /// Reads the journal in `folder` where there is one. All references must outlive it.
  BuildTrials(const BisectRequest& request, const NamedBuild& build, std::filesystem::path folder,
              const std::atomic<bool>& interrupted);
  ~BuildTrials();

  /// One more trial. The worker is made and the journal begun where that was not done. False where
  /// it has to end: stop_reason(). Throws UnusableBuild, also after trials of which none counted;
  /// JournalError.
  bool run_one();

  const NamedBuild& build() const { return build_; }
  const Proportion& seen() const { return seen_; }          ///< here and by --from
  int trials_here() const { return trials_here_; }          ///< of these, that ran here
  const std::string& last() const { return last_; }         ///< what the last one came to
  const std::string& worker_path() const { return path_; }  ///< empty before it was needed
  bool simulated() const { return simulated_; }             ///< as far as its worker was asked
  std::string stop_reason() const;                          ///< as RecordedTrials
  std::string stop_note() const;

 private:
  struct Running;

  void begin();
  void count(const TrialResult& result);

  const BisectRequest& request_;
  const NamedBuild& build_;
  std::filesystem::path folder_;
  const std::atomic<bool>& interrupted_;
  Proportion seen_;
  int trials_here_ = 0;
  int index_ = 0;  ///< of the next trial
  int without_evidence_ = 0;
  std::string last_;
  std::string path_;
  bool simulated_ = false;
  std::unique_ptr<JournalWriter> writer_;  ///< open, and locked, once trials run here
  std::unique_ptr<Running> running_;
};

}  // namespace mpsprobe
