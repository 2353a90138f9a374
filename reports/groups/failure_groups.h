#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/statistics/stratified.h"
#include "reports/analysis/analysis.h"

// Which failures need the same conditions. Never "one cause": two causes under the same conditions
// are one group, and no number of trials tells them apart.

namespace mpsprobe {

enum class Need : uint8_t {
  none_seen,  ///< none failed without the condition, which chance does not explain
  goes_on,    ///< some failed without it
  not_shown,  ///< no cell without it was run, or too few trials
};
template <>
inline constexpr auto kWordsOf<Need> = std::to_array<std::string_view>({"none_seen", "goes_on",
                                                                        "not_shown"});

/// A condition, and what cells tell that differ in it alone.
struct ConditionSeen {
  std::string words;            ///< "stream=per-thread", "more than 1 thread", "before 0.32.4"
  std::string otherwise;        ///< "with stream=default", "with 1 thread", "in 0.32.4"
  std::vector<Stratum> strata;  ///< cells that have it, and the same without
  Proportion without;           ///< all cells of the operation that lack it
  double p = 1;
  double corrected_p = 1;  ///< by Holm, over all conditions of all operations
  Need need = Need::not_shown;
};

/// Where these stand among the conditions of an operation; a release is there where one is known.
constexpr size_t kOfStreams = 1;
constexpr size_t kOfRelease = 3;

/// An operation of one arm that failed from several threads. Its cells may differ in what a
/// condition is, and in how much is run.
struct FailingOperation {
  size_t arm = 0;
  std::string label;
  Proportion seen;                        ///< with more than one thread and no lock
  std::vector<ConditionSeen> conditions;  ///< of all operations of an arm the same, in one order
  size_t worst = 0;                       ///< its cell that fails most often
  std::vector<std::string> telling;       ///< cells that would tell what is not shown
  std::vector<size_t> signatures;         ///< indices into Analysis::signatures
  std::vector<size_t> cells;              ///< all of it: indices into Analysis::cells
};

/// Operations that need the same conditions, and go on without the same.
struct FailureGroup {
  size_t arm = 0;
  std::vector<size_t> operations;  ///< at least two: indices into FailureGroups::operations
};

struct FailureGroups {
  std::vector<FailingOperation> operations;
  std::vector<FailureGroup> groups;
  size_t tests = 0;  ///< that the p-values are corrected for
};

/// The level at which it is said that none were seen without a condition. Of all runs at most so
/// many say so of even one without which as many fail, and so join what is apart
/// (failure_groups_test.cpp).
constexpr double kGroupLevel = 0.01;

/// Judges every condition: exact tests over matched cells (stratified.h), corrected by Holm over
/// all of them. Joins the operations of an arm of which every condition is known and all are the
/// same, where they need more than several threads and no lock, as nearly every race does. Fills in
/// p, corrected_p, need, groups and tests. Pure.
void judge_groups(FailureGroups& found, Sampling sampling);

/// The operations of a run with their conditions, judged. Conditions are more than one thread, a
/// stream of its own for each thread, no lock, and a release where the versions tell an older from
/// a newer one. Needs `arms`, `cells`, `signatures` and `sampling`. Pure.
FailureGroups find_groups(const Analysis& analysis);

/// Cells of the failing operations and of all that would tell what they need, each once: what
/// `run --more` runs. Empty where everything is known.
std::vector<std::string> cells_that_tell(const Analysis& analysis, const FailureGroups& groups);

/// How many trials each of these takes to say so of a condition, with a chance of 90%: for the
/// operation that fails least often, at most `most`.
constexpr int kMostTrialsThatTell = 200;
int trials_that_tell(const Analysis& analysis, const FailureGroups& groups, int most);

}  // namespace mpsprobe
