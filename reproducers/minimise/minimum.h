#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/statistics/anytime.h"
#include "harness/statistics/fisher.h"
#include "harness/statistics/rate_question.h"
#include "harness/wire/cell.h"
#include "harness/wire/enum_words.h"
#include "reproducers/minimise/build_identity.h"

namespace mpsprobe {

/// What is to be read is no minimum.json, or none of this version.
class MinimumError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The identity that a worker's provenance (docs/protocol.md) tells of.
BuildIdentity build_identity(const nlohmann::json& provenance);

/// Trials of one cell, told apart by whether the failure that is looked for occurred.
struct Tally {
  int failures = 0;     ///< with the signature that is looked for
  int trials = 0;       ///< that count: passes and failures, whatever their signature
  int other = 0;        ///< of these, failures with another signature: no success
  int no_evidence = 0;  ///< beside these: could not be set up, or ended for reasons outside

  Proportion proportion() const { return {failures, trials}; }
  /// The 95% interval of the rate: a confidence sequence, since trials end when enough is known.
  Interval interval() const { return anytime_interval(failures, trials); }
};

/// What became of one step.
enum class StepResult : uint8_t {
  kept,       ///< the failure stayed: the cell is simpler from here on
  dropped,    ///< the failure went, or became too seldom
  undecided,  ///< the limit of trials was reached: counts as dropped
  not_run,    ///< no trial of it counted (set-up failed, infrastructure)
  skipped,    ///< the cell makes no sense; `reason` says why
  undone,     ///< kept earlier, but it did not hold when it was verified: taken back
};

template <>
inline constexpr auto kWordsOf<StepResult> = std::to_array<std::string_view>(
    {"kept", "dropped", "undecided", "not_run", "skipped", "undone"});

/// One question that the minimiser asked: does the failure stay without this?
struct Reduction {
  std::string change;  ///< "threads 8 -> 4, sync end -> each"
  Cell cell;           ///< that was run
  StepResult result = StepResult::dropped;
  Tally tally;
  std::string reason;  ///< of `skipped` and `undone`, for people
};

/// Whether one condition of the minimal cell is needed: it alone is changed.
struct Condition {
  std::string change;          ///< "threads 3 -> 2", "lock none -> forward"
  Cell cell;                   ///< with the change
  bool simplification = true;  ///< false: the change adds something (a lock, a warm-up)
  Tally tally;                 ///< with the change, of fresh trials
  double p = 1;                ///< Fisher's exact test against Minimum::reliability
  double corrected_p = 1;      ///< by Holm, for all conditions
  bool rarer = false;          ///< it fails less often with the change; else it is not shown
  std::string skipped;         ///< why it was not run: the cell makes no sense; else ""

  /// None failed with the change, which chance does not explain.
  bool necessary() const { return rarer && tally.failures == 0; }
};

/// How a minimisation ended.
enum class MinimumState : uint8_t {
  complete,
  not_failing,  ///< the start cell did not fail, or not with that signature
  not_run,      ///< no trial of the start cell counted
  stopped,  ///< interrupted, budget over, device lost: `note` says which; `cell` is the best yet
};

template <>
inline constexpr auto kWordsOf<MinimumState> =
    std::to_array<std::string_view>({"complete", "not_failing", "not_run", "stopped"});

/// How many trials it took.
struct MinimumTrials {
  int baseline = 0;
  int steps = 0;       ///< of all steps, and of those that verified what was found
  int conditions = 0;  ///< of the table of conditions, its unchanged arm included
};

/// What a minimisation came to. A plain value; minimum.json holds all of it.
struct Minimum {
  MinimumState state = MinimumState::not_run;
  std::string note;  ///< for people: what ended it early, or what it would take
  Cell start;
  Cell cell;  ///< the minimal one; the simplest so far where it did not come to its end
  std::string signature;
  bool simulated = false;
  std::string worker;       ///< name given with --worker
  std::string worker_path;  ///< of the executable
  BuildIdentity build;
  std::string mpsprobe_version;
  std::string started;                   ///< UTC
  std::vector<std::string> environment;  ///< --env, as K=V
  uint64_t seed = 0;
  /// The command that runs the minimal cell as it ran here (rerun_arguments): with the limits, too.
  std::vector<std::string> rerun;

  Tally baseline;         ///< of the start cell
  RateQuestion question;  ///< that every step had to answer
  std::vector<Reduction> steps;
  /// Fresh trials of the minimal cell, after the search, their number fixed beforehand: none of
  /// them chose it, so that the rate is not flattered.
  Tally reliability;
  std::vector<Condition> conditions;
  /// Trials of each row with which the table would see a drop of the rate by half with 90%, where
  /// that is more than it was allowed; else 0.
  int condition_trials_missing = 0;

  MinimumTrials trials;
};

/// Runs of the minimal cell until its first failure is to be expected, 1/rate, and so many that one
/// fails with 95%, ln(0.05)/ln(1 - rate) rounded up, at the lowest rate of the interval: at the
/// rate seen it would be too few in every second report. 0 where none was seen.
double expected_runs(const Tally& reliability);
int runs_for_95_percent(const Tally& reliability);

/// minimum.json: {"mpsprobe_minimum": 1, ...}. Text from workers becomes valid UTF-8.
nlohmann::ordered_json to_json(const Minimum& minimum);

/// The inverse. Throws MinimumError for anything that is not of this form: wrong types, unknown
/// words, numbers that contradict one another. Accepts what another program wrote: no text in it is
/// trusted further than being a string.
Minimum minimum_from_json(const nlohmann::json& object);

/// Writes it beside its place and renames it, so that it is there whole or not at all. Throws
/// ReportError where the disk is full or the folder cannot be written.
void write_minimum(const std::filesystem::path& file, const Minimum& minimum);

}  // namespace mpsprobe
