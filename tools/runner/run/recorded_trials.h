#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "harness/campaign/device_care.h"
#include "harness/journal/journal.h"
#include "reproducers/minimise/minimise.h"

namespace mpsprobe {

/// Trials of single cells for a minimisation, each in the journal before its result is used. What
/// the journal holds already is returned and not run again, so that a run that was cut short goes
/// on where it was. Looks after real devices and bystanders as a campaign does. Not thread safe.
class RecordedTrials {
 public:
  /// `known` is what the journal holds already; its header has one worker. `care` runs what it does
  /// not hold. All references must outlive it.
  RecordedTrials(const Journal& known, JournalWriter& journal, DeviceCare care,
                 const std::atomic<bool>& interrupted);

  /// Trial `index` of `cell`; nothing where the run has to end. Throws JournalError.
  std::optional<TrialResult> operator()(const Cell& cell, int index);

  /// Why the run had to end: "interrupted", "budget", "device_lost"; "" where it did not.
  const std::string& stop_reason() const { return stop_reason_; }
  const std::string& stop_note() const { return stop_note_; }  ///< for people
  int replayed() const { return replayed_; }  ///< trials that came from the journal

 private:
  using Key = std::pair<std::string, int>;  // cell, index

  void remember(const TrialRecord& trial);
  bool may_go_on();
  void stop(const std::string& reason, const std::string& note);

  const CampaignHeader& header_;
  JournalWriter& journal_;
  DeviceCare care_;
  const std::atomic<bool>& interrupted_;
  std::chrono::steady_clock::time_point start_;
  std::map<Key, TrialResult> results_;
  std::map<Key, int> attempts_;  ///< of trials that are not done: how many there were
  std::string before_;
  uint64_t sequence_ = 0;
  int replayed_ = 0;
  std::string stop_reason_;
  std::string stop_note_;
};

/// What a minimisation needs of a trial: the title of its failure as reports have it.
TrialResult result_of(const TrialRecord& trial);

}  // namespace mpsprobe
