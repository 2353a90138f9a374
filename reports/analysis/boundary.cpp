#include "reports/analysis/boundary.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "reports/analysis/analysis.h"

namespace mpsprobe {
namespace {

struct VariedAxis {
  std::string_view name;
  int32_t Cell::*count;
};

constexpr std::array kVaried{VariedAxis{"threads", &Cell::threads},
                             VariedAxis{"processes", &Cell::processes}};

/// Places the boundary before the first point of which that is true.
void place(Boundary& boundary, const auto& fails) {
  boundary.most_passing.reset();
  boundary.fewest_failing.reset();
  boundary.passing_above.clear();
  for (const BoundaryPoint& point : boundary.points) {
    if (boundary.fewest_failing) {
      if (point.failures == 0) boundary.passing_above.push_back(point.count);
    } else if (fails(point)) {
      boundary.fewest_failing = point;
    } else {
      boundary.most_passing = point;
    }
  }
}

void conclude(Boundary& boundary) {
  const auto by_count = [](const BoundaryPoint& a, const BoundaryPoint& b) {
    return a.count < b.count;
  };
  std::sort(boundary.points.begin(), boundary.points.end(), by_count);
  std::sort(boundary.untested.begin(), boundary.untested.end());
  std::sort(boundary.refused.begin(), boundary.refused.end());
  place(boundary, [](const BoundaryPoint& point) { return point.failures > 0; });
}

}  // namespace

void settle_at(Boundary& boundary, const SettledPlace& settled) {
  boundary.settled = settled;
  place(boundary, [&settled](const BoundaryPoint& point) {
    return settled.from && point.count >= *settled.from;
  });
}

std::vector<Boundary> find_boundaries(std::span<const CellSummary> cells,
                                      std::span<const Arm> arms) {
  std::vector<Boundary> found;
  for (const VariedAxis& axis : kVaried) {
    std::vector<Boundary> groups;
    std::map<std::pair<size_t, std::string>, size_t> index;
    for (const CellSummary& cell : cells) {
      Cell group = cell.cell;
      group.*axis.count = 1;
      const auto [at, fresh] = index.try_emplace({cell.arm, to_string(group)}, groups.size());
      if (fresh) {
        Boundary& boundary = groups.emplace_back();
        boundary.worker = arms[cell.arm].label;
        boundary.axis = axis.name;
        boundary.group = group;
      }
      Boundary& boundary = groups[at->second];
      const int32_t count = cell.cell.*axis.count;
      if (cell.counted > 0) {
        boundary.points.push_back({count, cell.counted, cell.failures, cell.rate,
                                   cell.overlap == Overlap::none, cell.most_inside});
      } else {
        (cell.refused > 0 ? boundary.refused : boundary.untested).push_back(count);
      }
    }
    for (Boundary& boundary : groups) {
      if (boundary.points.size() + boundary.refused.size() < 2) continue;
      conclude(boundary);
      found.push_back(std::move(boundary));
    }
  }
  return found;
}

}  // namespace mpsprobe
