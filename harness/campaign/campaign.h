#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "harness/campaign/device_care.h"
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

/// Called after each trial, by one job at a time.
using OnTrial = std::function<void(const TrialRecord&, const Progress&)>;

/// Runs what a header plans and is not yet in the journal, in its seeded order, to the end, the
/// budget, the interrupt or the loss of the device; writes how it ended into the journal and
/// returns it. Each trial is in the journal before the next one of its job starts.
///
/// A trial that died as a bystander of a GPU restart says nothing of its cell: it is run again at
/// once, while no other job runs anything, up to kMostAttempts times in all. Every attempt is in
/// the journal as it came; the last one stands for the trial. One that is a victim alone as well
/// counts as a failure (judge_bystander_alone). A bystander with attempts left is not done: a
/// resumed run goes on with it.
///
/// `known` is what the journal holds already (JournalWriter::existing). `care` runs the trials,
/// from `header.jobs` threads. Throws JournalError where the journal cannot be written.
CampaignEnd run_campaign(const Journal& known, JournalWriter& journal, const DeviceCare& care,
                         const OnTrial& on_trial, const std::atomic<bool>& interrupted);

}  // namespace mpsprobe
