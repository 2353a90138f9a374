#include "reports/groups/group_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "reports/words/phrases.h"
#include "reports/words/text.h"
#include "reports/words/wording.h"

namespace mpsprobe {
namespace {

std::string of_arm(const Analysis& analysis, std::string label, size_t arm) {
  return with_arm(analysis, std::move(label), shortened(printable(analysis.arms[arm].label), 40));
}

// The words of conditions of which the same is known.
std::vector<std::string> conditions_with(const FailingOperation& operation, Need need) {
  std::vector<std::string> words;
  for (const ConditionSeen& condition : operation.conditions) {
    if (condition.need != need) continue;
    words.push_back(need == Need::goes_on ? condition.otherwise : condition.words);
  }
  return words;
}

std::string kinds_of_failure(size_t number) {
  return counted(number, "kinds of failure");
}

}  // namespace

std::string group_in_words(const Analysis& analysis, const FailureGroups& found,
                           const FailureGroup& group) {
  std::vector<std::string> names;
  std::set<size_t> signatures;
  Proportion with;
  Proportion without;
  double p = 0;
  for (const size_t i : group.operations) {
    const FailingOperation& operation = found.operations[i];
    names.push_back(operation.label);
    signatures.insert(operation.signatures.begin(), operation.signatures.end());
    with.failures += operation.seen.failures;
    with.trials += operation.seen.trials;
    for (const ConditionSeen& condition : operation.conditions) {
      if (condition.need != Need::needed) continue;
      p = std::max(p, condition.corrected_p);
      for (const Stratum& stratum : condition.strata) without.trials += stratum.second.trials;
    }
  }
  const FailingOperation& first = found.operations[group.operations.front()];
  std::string text = fmt::format(
      "{} need the same conditions: {} (of trials with more than 1 thread and no lock {} of {} "
      "failed; without one of these conditions 0 of {}; each p at most {:.1g} over {} comparisons)",
      of_arm(analysis, fmt::format("{}", fmt::join(names, "; ")), group.arm),
      fmt::join(conditions_with(first, Need::needed), ", "), with.failures, with.trials,
      without.trials, std::max(p, 0.0001), found.tests);
  if (const auto on = conditions_with(first, Need::goes_on); !on.empty()) {
    text += fmt::format("; they go on {}", fmt::join(on, ", "));
  }
  return text + "; " + kinds_of_failure(signatures.size());
}

std::string operation_in_words(const Analysis& analysis, const FailingOperation& operation) {
  std::string text =
      fmt::format("{}: {} of {} failed", of_arm(analysis, operation.label, operation.arm),
                  operation.seen.failures, counted(operation.seen.trials, "trials"));
  const auto add = [&](Need need, std::string_view how) {
    const std::vector<std::string> words = conditions_with(operation, need);
    if (!words.empty()) text += fmt::format("; {} {}", how, fmt::join(words, ", "));
  };
  add(Need::needed, "needs");
  add(Need::goes_on, "goes on");
  add(Need::not_shown, "not shown to need");
  return text + "; " + kinds_of_failure(operation.signatures.size());
}

std::vector<size_t> apart_from_groups(const FailureGroups& found) {
  std::set<size_t> joined;
  for (const FailureGroup& group : found.groups) {
    joined.insert(group.operations.begin(), group.operations.end());
  }
  std::vector<size_t> apart;
  for (size_t i = 0; i < found.operations.size(); ++i) {
    if (!joined.contains(i)) apart.push_back(i);
  }
  return apart;
}

std::string what_would_tell(const Analysis& analysis, const FailureGroups& found) {
  const std::vector<std::string> cells = cells_that_tell(analysis, found);
  if (cells.empty()) return "";
  return fmt::format(
      "What is not shown, more trials would tell: `mpsprobe run --more` with the folder of this "
      "run "
      "runs {}, each {} times.",
      counted(cells.size(), "cells"), trials_that_tell(analysis, found, kMostTrialsThatTell));
}

}  // namespace mpsprobe
