#include "reports/analysis/failures/failure_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "reports/words/cell_label.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {

std::string failure_kind(const OutcomeCount& count) {
  switch (count.outcome) {
    case Outcome::signal:
      return count.detail.empty() ? "signal" : shortened(printable(count.detail), 40);
    case Outcome::exit:
      return "exit " + shortened(printable(count.detail), 20);
    default:
      return words(name_of(count.outcome));
  }
}

std::string failure_kinds(const CellSummary& cell) {
  std::vector<std::pair<std::string, int>> kinds;  // in the order of the outcomes
  for (const OutcomeCount& count : cell.outcomes) {
    if (!is_failure(count.outcome)) continue;
    const std::string kind = failure_kind(count);
    const auto same = std::find_if(kinds.begin(), kinds.end(),
                                   [&kind](const auto& known) { return known.first == kind; });
    if (same == kinds.end()) {
      kinds.emplace_back(kind, count.trials);
    } else {
      same->second += count.trials;
    }
  }
  if (kinds.size() == 1) return kinds.front().first;
  std::string text;
  for (const auto& [kind, trials] : kinds) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", kind, trials);
  }
  return text;
}

}  // namespace mpsprobe
