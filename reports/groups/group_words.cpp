#include "reports/groups/group_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "reports/claims/rate_claim.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {
namespace {

std::string of_arm(const Analysis& analysis, std::string label, size_t arm) {
  return with_arm(analysis, std::move(label), shortened(printable(analysis.arms[arm].label), 40));
}

// What is otherwise where the same is known of a condition: "with a lock", "in 0.32.4".
std::vector<std::string> changes_with(const FailingOperation& operation, Need need) {
  std::vector<std::string> words;
  for (const ConditionSeen& condition : operation.conditions) {
    if (condition.need == need) words.push_back(condition.otherwise);
  }
  return words;
}

// The failures of an operation, and the trials under the conditions that are named with them.
Proportion seen_under(const FailingOperation& operation) {
  Proportion seen = operation.seen;
  const ConditionSeen& streams = operation.conditions[kOfStreams];
  if (streams.need == Need::none_seen) seen.trials -= streams.without.trials;
  return seen;
}

}  // namespace

std::string operations_in_words(const Analysis& analysis, const FailureGroups& found,
                                const std::vector<size_t>& operations) {
  const FailingOperation& first = found.operations[operations.front()];
  std::string text;
  std::set<size_t> signatures;
  int without = 0;
  double p = 0;
  for (const size_t i : operations) {
    const FailingOperation& operation = found.operations[i];
    const Proportion seen = seen_under(operation);
    const std::string trials =
        text.empty() ? counted(seen.trials, "trials") + " failed" : std::to_string(seen.trials);
    text += fmt::format("{}{} ({} of {})", text.empty() ? "" : "; ", operation.label, seen.failures,
                        trials);
    signatures.insert(operation.signatures.begin(), operation.signatures.end());
    for (const ConditionSeen& condition : operation.conditions) {
      if (condition.need != Need::none_seen) continue;
      p = std::max(p, condition.corrected_p);
      for (const Stratum& stratum : condition.strata) without += stratum.second.trials;
    }
  }
  text = of_arm(analysis, std::move(text), first.arm) + ": ";
  const auto add = [&](Need need, std::string_view how, const std::string& counts = "") {
    const std::vector<std::string> words = changes_with(first, need);
    if (!words.empty()) text += fmt::format("{} {}{}; ", how, fmt::join(words, ", "), counts);
  };
  add(Need::none_seen, operations.size() == 1 ? "none seen" : "of each none seen",
      fmt::format(" (0 of {}; each {} over {})", without, p_in_words(p),
                  counted(found.tests, "comparisons")));
  add(Need::goes_on, "fails also");
  add(Need::not_shown, "not told");
  return text + counted(signatures.size(), "kinds of failure");
}

std::vector<SaidOfFailures> said_of_failures(const Analysis& analysis, const FailureGroups& found) {
  std::vector<std::vector<size_t>> alike;  // those of which the same is known
  std::map<std::pair<size_t, std::vector<Need>>, size_t> index;
  for (size_t i = 0; i < found.operations.size(); ++i) {
    std::vector<Need> needs;
    for (const ConditionSeen& each : found.operations[i].conditions) needs.push_back(each.need);
    const auto [at, fresh] =
        index.try_emplace({found.operations[i].arm, std::move(needs)}, alike.size());
    if (fresh) alike.emplace_back();
    alike[at->second].push_back(i);
  }
  std::vector<SaidOfFailures> said;
  for (const auto& operations : alike) {
    const bool group =
        std::any_of(found.groups.begin(), found.groups.end(),
                    [&](const FailureGroup& each) { return each.operations == operations; });
    said.push_back({operations_in_words(analysis, found, operations), operations.front(), group});
  }
  std::stable_partition(said.begin(), said.end(),
                        [](const SaidOfFailures& each) { return each.group; });
  return said;
}

std::string what_would_tell(const Analysis& analysis, const FailureGroups& found) {
  const std::vector<std::string> cells = cells_that_tell(analysis, found);
  if (cells.empty()) return "";
  return fmt::format(
      "What is not shown, more trials would tell: `mpsprobe run --more RUN` runs {}, each {} "
      "times.",
      counted(cells.size(), "cells"), trials_that_tell(analysis, found, kMostTrialsThatTell));
}

}  // namespace mpsprobe
