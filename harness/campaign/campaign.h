#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "harness/executor/executor.h"
#include "harness/journal/journal.h"

namespace mpsprobe {

/// When a known-good cell is run after a failure.
enum class KnownGoodPolicy : uint8_t {
  real_devices,  ///< on backends whose trials share a device that can be sick
  always,
  never,
};

/// The cell that shows, after a failure of `failed`, whether its device is still well: the
/// operation that the worker names as known-good, else mm, once on one thread. Nothing where the
/// worker has no such operation.
std::optional<Cell> known_good_cell(const WorkerInfo& worker, const Cell& failed);

/// How often the known-good cell is run before the device is given up.
constexpr int kKnownGoodAttempts = 3;

/// How often a trial is run: once, and again, alone, where it was a bystander.
constexpr int kMostAttempts = 3;

/// Whether it has to run again: what it says is not about its cell, and there are attempts left.
bool is_unsettled(const TrialRecord& trial);
bool is_unsettled(const Judgement& judgement, int attempt);

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
  using RunTrial = std::function<TrialRecord(const TrialRequest&)>;
  using OnTrial = std::function<void(const TrialRecord&, const Progress&)>;

  /// All references must outlive the campaign. `existing` holds the trials that are done already.
  /// `recovery` is what a device gets before a second look at it, and twice that before a third.
  /// `run_trial` is called from `header.jobs` threads; `on_trial` from one at a time.
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
  RunTrial run_trial_;
  OnTrial on_trial_;
  KnownGoodPolicy known_good_;
  const std::atomic<bool>& interrupted_;
  std::chrono::milliseconds recovery_;
};

}  // namespace mpsprobe
