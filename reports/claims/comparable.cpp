#include <algorithm>

#include "reports/claims/comparisons.h"

namespace mpsprobe {
namespace {

bool had_wrong_results(const CellSummary& cell) {
  return std::any_of(cell.outcomes.begin(), cell.outcomes.end(), [](const OutcomeCount& count) {
    return count.outcome == Outcome::wrong_result;
  });
}

}  // namespace

std::optional<Conclusion> why_incomparable(const CellSummary& one, const CellSummary& two) {
  if ((one.failures > 0) == (two.failures > 0)) return std::nullopt;
  const CellSummary& failing = one.failures > 0 ? one : two;
  const CellSummary& spared = one.failures > 0 ? two : one;
  if (spared.overlap == Overlap::none) return Conclusion::no_overlap;
  if (took_another_path(failing) || took_another_path(spared)) return Conclusion::other_path;
  if (had_wrong_results(failing) && spared.checked == 0) return Conclusion::unchecked;
  return std::nullopt;
}

}  // namespace mpsprobe
