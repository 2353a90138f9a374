#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/statistics/interval.h"
#include "harness/wire/cell.h"

namespace mpsprobe {

struct Arm;
struct CellSummary;

/// One tested count of a boundary.
struct BoundaryPoint {
  int32_t count = 0;  ///< threads or processes
  int trials = 0;
  int failures = 0;
  Interval rate = {};            ///< 95% interval of the failure rate
  bool without_overlap = false;  ///< several threads, and never two of them inside an operation
  uint32_t most_inside = 0;      ///< the most threads that were inside an operation at once
};

/// What a campaign that settles where cells begin to fail at a rate came to: the change point
/// between seldom and often that is the likeliest. One stray failure below does not move it.
struct SettledPlace {
  double rate = 0;       ///< asked for
  bool settled = false;  ///< otherwise more trials are needed, or it was given up
  /// The fewest that fail at the rate or more; nothing: none does. Where it is not settled, the
  /// fewest that were seen to, if these are fewer.
  std::optional<int32_t> from;
  double wrong = 0;  ///< the chance that it is elsewhere
};

/// Where failures begin along one axis, every other axis held. Derived, never stored.
struct Boundary {
  std::string worker;                   ///< label of the arm
  std::string axis;                     ///< "threads" or "processes"
  Cell group;                           ///< the other axes; the varied one is 1
  std::vector<BoundaryPoint> points;    ///< counts with evidence, ascending
  std::vector<int32_t> untested;        ///< counts asked for that have no evidence, ascending
  std::vector<int32_t> refused;         ///< counts of which nothing is known but that, ascending
  std::optional<SettledPlace> settled;  ///< of a campaign that settles
  /// The largest count without a failure below which no tested count failed. Nothing where the
  /// smallest tested count failed already. Of a campaign that settles: the largest count below the
  /// place where failures begin, and below it the smallest that is not.
  std::optional<BoundaryPoint> most_passing;
  std::optional<BoundaryPoint> fewest_failing;  ///< the smallest count with at least one failure
  std::vector<int32_t> passing_above;           ///< counts above `fewest_failing` without a failure

  /// False where counts above the first failure passed: then there is no single boundary.
  bool monotone() const { return passing_above.empty(); }
};

/// Boundaries of all groups with evidence, or a refusal, at two counts or more, along threads
/// first, then along processes; groups in the order in which they first occur in `cells`. A cell of
/// one arm must occur once: results are never added up here.
std::vector<Boundary> find_boundaries(std::span<const CellSummary> cells,
                                      std::span<const Arm> arms);

/// Takes that as the boundary's place.
void settle_at(Boundary& boundary, const SettledPlace& settled);

}  // namespace mpsprobe
