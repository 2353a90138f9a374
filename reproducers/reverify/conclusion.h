#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/statistics/anytime.h"
#include "harness/statistics/fisher.h"
#include "harness/wire/enum_words.h"
#include "reproducers/bundle/bundle_record.h"

namespace mpsprobe {

/// What trials of one cell came to on one arm, in the run that verifies. Results of different arms
/// are never added up, nor are those of the bundle to these.
struct ArmNow {
  std::string label;                 ///< "old", "stock"
  BundleBuild build;                 ///< as its processes proved it
  bool proved = true;                ///< a process that ran trials said so
  Proportion same;                   ///< failures with the bundle's signature, of all that count
  int otherwise = 0;                 ///< failures with another signature
  std::string other_signature;       ///< the most frequent of these
  std::vector<std::string> devices;  ///< as its processes named them
  bool met = true;          ///< threads were inside an operation at once, wherever they could be
  bool other_path = false;  ///< the operation took another path than the cell asks for
  bool unchecked = false;   ///< the failure is wrong numbers, and this arm compared none
  bool same_class = true;   ///< simulated, paravirtual or neither, as in the bundle
};

/// One cell of the bundle, before and now.
struct CellBeforeAndNow {
  std::string cell;  ///< as in the bundle
  bool control = false;
  BundleBuild build_before;
  std::vector<std::string> devices_before;
  Proportion before;              ///< failures with the bundle's signature
  int otherwise_before = 0;       ///< with another one
  std::optional<ArmNow> old_arm;  ///< the bundle's build and cell, run again
  std::optional<ArmNow> new_arm;  ///< another build
};

/// What a cell, or the whole bundle, comes to.
enum class RecheckFinding : uint8_t {
  still_fails,      ///< today's arm fails with the bundle's signature
  fails_otherwise,  ///< it fails, with another one
  fixed,         ///< the old arm failed again in this run, and the new one did not: not by chance
  inconclusive,  ///< nothing fails today, and no more than that is known
  as_before,     ///< a cell that had not failed with the signature, and does not
};
template <>
inline constexpr auto kWordsOf<RecheckFinding> = std::to_array<std::string_view>(
    {"still_fails", "fails_otherwise", "fixed", "inconclusive", "as_before"});
/// "still fails": the same for people.
std::string words_of(RecheckFinding finding);

/// Why no more can be said of an arm that did not fail.
enum class Reason : uint8_t {
  too_few_trials,            ///< chance may have spared it
  nothing_counted,           ///< no trial came to a result that counts
  old_arm_not_run,           ///< no arm had the bundle's build
  old_arm_passed,            ///< it was run, and did not fail
  old_arm_failed_otherwise,  ///< it failed, but not with the bundle's signature
  same_build,                ///< only the bundle's own build ran: whatever changed, it is not that
  unproved,                  ///< a side did not prove which build it was
  other_device,    ///< a side ran on another device, or class of device, than the bundle's
  no_overlap,      ///< its threads never met
  other_path,      ///< it took another path
  unchecked,       ///< the failure is wrong numbers, and nobody looked at the numbers
  control_failed,  ///< what ought to pass fails today
};
template <>
inline constexpr auto kWordsOf<Reason> = std::to_array<std::string_view>(
    {"too_few_trials", "nothing_counted", "old_arm_not_run", "old_arm_passed",
     "old_arm_failed_otherwise", "same_build", "unproved", "other_device", "no_overlap",
     "other_path", "unchecked", "control_failed"});

/// Of one cell.
struct CellConclusion {
  RecheckFinding finding = RecheckFinding::inconclusive;
  std::vector<Reason> reasons;  ///< of `inconclusive`: the one to name first is first
  /// That the bundle's count and today's have one rate, by a value that holds at any stopping time
  /// (anytime_p_value): a bundle does not tell whether its trials ended by looking, and those of
  /// `--settle` and `repro` do. None where today's arm ran on another device.
  std::optional<double> p_before_and_now;
  /// The same of the old arm against the new one, in this run: Fisher's exact test, two-sided, of a
  /// plan that was carried out.
  std::optional<double> p_arms;
  /// By Holm, for all cells of which `p_arms` decides.
  std::optional<double> corrected_p_arms;
  /// Trials a side that a new run takes to tell the rate seen from none (trials_for_power).
  std::optional<int> trials_needed;
};

/// Of the whole bundle.
struct BundleConclusion {
  RecheckFinding finding = RecheckFinding::inconclusive;
  std::vector<Reason> reasons;
  std::string other_signature;        ///< of `fails_otherwise`
  std::optional<int> trials_needed;   ///< the most that any of its cells takes
  std::vector<CellConclusion> cells;  ///< in the order given
};

/// The level of the test. After Holm's correction over all cells that are tested, the chance
/// of even one false "fixed" is below it.
inline constexpr double kVerifyLevel = 0.05;

/// Concludes from counts alone; the one place that decides. `arms` is how the trials of this run
/// came about: `fixed` where its plan was carried out, else it may have been ended by looking at
/// it.
///
/// Today's arm of a cell is the new one where there is one, else the old one. A cell that failed
/// before:
/// - fails today with the bundle's signature: `still_fails`, on whatever build or device;
/// - fails today in another way only: `fails_otherwise`;
/// - does not fail today: `fixed` where an old arm ran in this same run and failed with the
///   bundle's signature, the test of the two arms gives a corrected value below kVerifyLevel,
///   and no reason stands against it; else `inconclusive`, with the reasons.
/// A cell that had not failed: `as_before`, unless it fails today.
/// The bundle: the first of still_fails, fails_otherwise that any cell has, of which a control
/// counts for the first alone; `fixed` where every cell that failed before is; else `inconclusive`.
/// Pure. Throws std::invalid_argument where a count is none.
BundleConclusion conclude(const std::vector<CellBeforeAndNow>& cells,
                          Sampling arms = Sampling::fixed);

/// "still fails", "fixed", "fails otherwise: TITLE", "inconclusive: 462 more trials on each side".
/// Plain text; the title of a failure as it came.
std::string in_words(const BundleConclusion& conclusion);

/// One cell's conclusion as a sentence with its reasons and numbers.
std::string in_words(const CellBeforeAndNow& cell, const CellConclusion& conclusion);

/// How many trials a cell and arm a run takes to conclude about these cells: of those that failed
/// before, the most that trials_for_power asks for at the rate seen, at kVerifyLevel shared among
/// them (the strictest step of Holm's correction); but kFewestTrials at least, since a rate of 10
/// in 10 is not 100%, and kMostDefaultTrials at most. Pure.
inline constexpr int kFewestTrials = 20;
inline constexpr int kMostDefaultTrials = 200;
int default_trials(const std::vector<BundleCell>& cells);

}  // namespace mpsprobe
