#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reports/analysis/analysis.h"

// Reports over simulated trials whose truth is known, and a reader of what they print first. The
// reader knows the counts and the text alone.

namespace mpsprobe {

/// What makes a headline hard: failures along both axes, kinds of failure, a rate that falls with
/// more threads, a lock that helps at one count and harms at another, refusals among failures, and
/// many cells of rates that are near 0.
enum class HardWorld : uint8_t {
  both_axes,
  two_kinds,
  not_monotone,
  opposite_lock,
  refusals,
  many_cells
};
std::string_view name_of(HardWorld world);
std::span<const HardWorld> hard_worlds();

/// A run in that world, reproducible by `seed`, which also draws its rates: of a fixed number of
/// trials, or one that settles at 10%.
struct SimulatedReport {
  Analysis analysis;
  std::vector<double> rates;  ///< the truth, by index into Analysis::cells
};
SimulatedReport simulated_report(HardWorld world, bool settles, uint64_t seed);

/// What a reader finds wrong in the first lines of a terminal's report, in words; empty where they
/// say what the counts say. A headline contradicts its counts where it names a cell, a number or a
/// place that they do not have, or calls clear what failed; it hides the worst cell where the one
/// that fails most often is not in it; it is too long where it has more than two lines a build, a
/// line of more than 100 columns, or a sentence of more than 30 words.
std::vector<std::string> faults_of(const Analysis& analysis);

/// The bound that the headline prints for all cells without a failure; 1 where it prints none.
double printed_bound(const Analysis& analysis);

}  // namespace mpsprobe
