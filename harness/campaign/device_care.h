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

/// Whether it failed for want of something that may be there by now: --resume runs it again, as
/// another attempt, and that one counts.
bool may_be_mended(const Judgement& judgement);

/// What was seen of a device after a trial.
struct DeviceLook {
  std::string cell;  ///< the known-good cell that was run; "": none was
  std::string lost;  ///< for people: why the device is given up; "": it is not
};

/// Runs trials that share a device, and cares for that device: the same for a campaign, a
/// minimisation and a bisection. Safe to use from several threads where `run` is.
class DeviceCare {
 public:
  using RunTrial = std::function<TrialRecord(const TrialRequest&)>;

  /// `interrupted` must outlive it. `recovery` is what a device gets before a second look at it,
  /// and twice that before a third.
  DeviceCare(RunTrial run, KnownGoodPolicy policy, const std::atomic<bool>& interrupted,
             std::chrono::milliseconds recovery = std::chrono::seconds(1));

  /// Runs a trial once, as its attempt of that number, from 0; the last one is run alone, and a
  /// victim once more is no bystander. Nothing where the user cut it short: that trial did not
  /// happen, and is run again on --resume.
  std::optional<TrialRecord> attempt(const TrialRequest& request, int number) const;

  /// After that trial, which is in the journal already, since this look may be the last thing that
  /// the machine does: runs the known-good cell where the policy says so, and writes it into the
  /// journal. A sick device would be blamed on the next cell. Throws JournalError.
  DeviceLook look(const TrialRequest& request, const TrialRecord& trial,
                  JournalWriter& journal) const;

 private:
  RunTrial run_;
  KnownGoodPolicy policy_;
  const std::atomic<bool>& interrupted_;
  std::chrono::milliseconds recovery_;
};

}  // namespace mpsprobe
