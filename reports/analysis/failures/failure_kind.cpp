#include "reports/analysis/failures/failure_kind.h"

#include <fmt/format.h>

#include <algorithm>

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

std::vector<KindCount> count_kinds(const CellSummary& cell, bool (*counts)(Outcome)) {
  std::vector<KindCount> kinds;
  for (const OutcomeCount& count : cell.outcomes) {
    if (!counts(count.outcome)) continue;
    const std::string kind = failure_kind(count);
    const auto same = std::find_if(kinds.begin(), kinds.end(),
                                   [&kind](const KindCount& known) { return known.first == kind; });
    if (same == kinds.end()) {
      kinds.emplace_back(kind, count.trials);
    } else {
      same->second += count.trials;
    }
  }
  return kinds;
}

std::string failure_kinds(const CellSummary& cell) {
  const std::vector<KindCount> kinds = count_kinds(cell, is_failure);
  if (kinds.size() == 1) return kinds.front().first;
  std::string text;
  for (const auto& [kind, trials] : kinds) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", kind, trials);
  }
  return text;
}

}  // namespace mpsprobe
