#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "harness/campaign/settling.h"
#include "harness/statistics/fisher.h"
#include "reports/analysis/steps.h"
#include "reports/claims/comparisons.h"

namespace mpsprobe {
namespace {

// The boundary that lies on a line; null where it has too few points.
Boundary* boundary_of(const SettlingLine& line, Analysis& analysis) {
  const CellSummary& last = analysis.cells[line.cells.back()];
  Cell group = last.cell;
  (line.axis == "threads" ? group.threads : group.processes) = 1;
  const auto at = std::find_if(analysis.boundaries.begin(), analysis.boundaries.end(),
                               [&](const Boundary& boundary) {
                                 return boundary.axis == line.axis && boundary.group == group &&
                                        boundary.worker == analysis.arms[last.arm].label;
                               });
  return at == analysis.boundaries.end() ? nullptr : &*at;
}

SettledPlace place_of(const SettlingLine& line, const RateQuestion& question,
                      const std::vector<CellSummary>& cells) {
  SettledPlace place;
  place.rate = question.often_rate;
  place.settled = line.state == LineState::settled;
  place.wrong = line.asked.empty() ? 1 : line.place.wrong();
  size_t first = line.place.first_failing;
  // No cell is said to fail more seldom than it was seen to: until it is settled the estimate may
  // rest on next to nothing, and what fails at one count alone is a stray to it. One failure may
  // be.
  const auto seen = std::find_if(line.asked.begin(), line.asked.end(), [&](size_t asked) {
    const CellSummary& cell = cells[asked];
    return cell.failures > (place.settled ? 1 : 0) && cell.failures >= place.rate * cell.counted;
  });
  first = std::min(first, static_cast<size_t>(seen - line.asked.begin()));
  if (first < line.asked.size()) {
    const Cell& cell = cells[line.asked[first]].cell;
    place.from = line.axis == "threads" ? cell.threads : cell.processes;
  }
  return place;
}

// Whether the counts contradict that a failure which begins goes on: cells above the first one that
// was seen to fail at the rate fail less often than it, which chance does not explain.
std::optional<SettledQuestions::Broken> where_failure_ends(const SettlingLine& line, double rate,
                                                           const std::vector<CellSummary>& cells) {
  const auto often = [&](size_t index) {
    return cells[index].failures > 0 && cells[index].failures >= rate * cells[index].counted;
  };
  for (size_t i = 0; i < line.asked.size(); ++i) {
    if (!often(line.asked[i])) continue;
    SettledQuestions::Broken broken{line.asked[i], {}};
    Proportion above;
    for (size_t k = i + 1; k < line.asked.size(); ++k) {
      if (often(line.asked[k])) continue;
      broken.rarer.push_back(line.asked[k]);
      above.failures += cells[line.asked[k]].failures;
      above.trials += cells[line.asked[k]].counted;
    }
    const CellSummary& failing = cells[line.asked[i]];
    if (above.trials > 0 &&
        fisher_exact({failing.failures, failing.counted}, above) < kClaimLevel) {
      return broken;
    }
  }
  return std::nullopt;
}

}  // namespace

void settle(double rate, Analysis& analysis) {
  std::vector<SeenCell> cells;
  for (const CellSummary& cell : analysis.cells) {
    cells.push_back({analysis.arms[cell.arm].label,
                     cell.cell,
                     {cell.failures, cell.counted},
                     cell.recorded - cell.counted});
  }
  const Settling settling(rate, std::move(cells));
  const RateQuestion& question = settling.question();
  SettledQuestions& questions = analysis.settling.emplace();
  questions.rate = rate;
  questions.wrong = question.false_often + question.false_seldom;
  std::map<size_t, int> further;
  for (const SettlingLine& line : settling.lines()) {
    const SettledPlace place = place_of(line, question, analysis.cells);
    questions.somewhere = questions.somewhere || place.from.has_value();
    if (Boundary* boundary = boundary_of(line, analysis)) settle_at(*boundary, place);
    if (auto broken = where_failure_ends(line, rate, analysis.cells)) {
      questions.broken.push_back(std::move(*broken));
    }
    if (line.state == LineState::settled) ++questions.settled;
    if (line.state == LineState::given_up) ++questions.given_up;
    if (line.state != LineState::open) continue;
    questions.open.push_back({*line.next, line.axis, line.further});
    int& most = further[*line.next];
    most = std::max(most, line.further);
  }
  // Also of cells that are on no boundary for what they refuse.
  questions.somewhere =
      questions.somewhere ||
      std::any_of(analysis.cells.begin(), analysis.cells.end(), [rate](const CellSummary& cell) {
        return cell.failures > 1 && cell.seen_rate() >= rate;
      });
  for (const auto& [cell, trials] : further) {
    analysis.cells[cell].planned += trials;
    analysis.cells[cell].missing += trials;
  }
}

}  // namespace mpsprobe
