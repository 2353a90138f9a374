#include "reports/writers/beside.h"

#include <algorithm>

namespace mpsprobe {
namespace {

void add_night(CellNights& series, const RunFacts& run) {
  const auto cell = run.cells.find({series.arm, series.cell});
  if (cell == run.cells.end() || cell->second.counted == 0) return;
  if (cell->second.simulated != series.simulated) return;
  const auto arm = run.arms.find(series.arm);
  series.nights.push_back({run.started,
                           arm == run.arms.end() ? "" : arm->second.library,
                           {cell->second.failures, cell->second.counted}});
}

}  // namespace

std::vector<CellNights> nights_of_cells(const RunFacts& run, const std::vector<RunFacts>& earlier) {
  std::vector<CellNights> all;
  for (const auto& [key, cell] : run.cells) {
    CellNights series{key.first, key.second, cell.simulated, {}};
    for (const RunFacts& night : earlier) add_night(series, night);
    add_night(series, run);
    const bool failed =
        std::any_of(series.nights.begin(), series.nights.end(),
                    [](const SeriesNight& night) { return night.seen.failures > 0; });
    if (failed && series.nights.size() > 1) all.push_back(std::move(series));
  }
  return all;
}

}  // namespace mpsprobe
