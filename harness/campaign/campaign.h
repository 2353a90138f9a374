#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>

#include "harness/campaign/device_care.h"
#include "harness/executor/executor.h"
#include "harness/journal/journal.h"

namespace mpsprobe {

/// How far a campaign is.
struct Progress {
  size_t done = 0;     ///< trials that are done, those of an earlier run included
  size_t planned = 0;  ///< trials altogether
  size_t failures = 0;
  double seconds = 0;   ///< since this run began
  size_t done_now = 0;  ///< trials that this run did
};

/// Runs what a header plans and is not yet in the journal, in its seeded order. Each trial is in
/// the journal before the next one of its job starts.
///
/// A trial that died as a bystander of a GPU restart says nothing of its cell: it is run again at
/// once, while no other job runs anything, up to kMostAttempts times in all. Every attempt is in
/// the journal as it came; the last one stands for the trial. One that is a victim alone as well
/// counts as a failure (judge_bystander_alone). A bystander with attempts left is not done: a
/// resumed run goes on with it.
class Campaign {
 public:
  using RunTrial = DeviceCare::RunTrial;
  using OnTrial = std::function<void(const TrialRecord&, const Progress&)>;

  /// All references must outlive the campaign. `existing` holds the trials that are done already.
  /// `run_trial`, `known_good` and `recovery` as DeviceCare has them; `run_trial` is called from
  /// `header.jobs` threads; `on_trial` from one at a time.
  Campaign(const CampaignHeader& header, const std::vector<TrialRecord>& existing,
           JournalWriter& journal, RunTrial run_trial, OnTrial on_trial, KnownGoodPolicy known_good,
           const std::atomic<bool>& interrupted,
           std::chrono::milliseconds recovery = std::chrono::seconds(1));

  /// Runs to the end, the budget, the interrupt or the loss of the device, writes how it ended into
  /// the journal and returns it. Throws JournalError where the journal cannot be written.
  CampaignEnd run();

 private:
  class Run;

  const CampaignHeader& header_;
  const std::vector<TrialRecord>& existing_;
  JournalWriter& journal_;
  DeviceCare care_;
  OnTrial on_trial_;
  const std::atomic<bool>& interrupted_;
};

}  // namespace mpsprobe
