#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/campaign/boundary_search.h"
#include "harness/statistics/simulated_trials.h"

namespace mpsprobe {

/// The failure rates of the points of a boundary, ascending, and from which it starts: the index of
/// the first that fails at the rate of the question or more.
struct PlantedBoundary {
  std::string name;
  std::vector<double> rates;
  size_t first_failing = 0;           ///< rates.size(): none
  std::vector<size_t> passing_above;  ///< points above it that do not fail
  bool of_the_question = false;       ///< its rates are the two of the question, and monotone
};

/// Boundaries over eight counts: sharp ones at each count and an absent one with the rates of the
/// question; then certain, sloped, erratic ones, one where nothing ever fails, and flat ones of
/// 0.5% and 1%.
std::vector<PlantedBoundary> planted_boundaries(const RateQuestion& question);

/// What simulated campaigns over one boundary came to.
struct SimulatedCampaigns {
  int campaigns = 0;
  double mean_trials = 0;
  int wrong = 0;      ///< another first failing point than planted
  int accused = 0;    ///< campaigns in which a point that fails seldom was shown to fail
  int missed = 0;     ///< the passing points above the first failing one are not those planted
  int uncovered = 0;  ///< intervals, one a point at its end, that do not hold the planted rate
  int intervals = 0;
};

/// The trials of one campaign that stops when the boundary is settled, by point.
std::vector<Proportion> settled_points(const RateQuestion& question,
                                       const std::vector<double>& rates, SimulatedTrials& random);

/// Campaigns that stop when the boundary is settled. Reproducible by `seed`.
SimulatedCampaigns settle_simulated(const RateQuestion& question, const PlantedBoundary& planted,
                                    int campaigns, uint64_t seed);

/// Campaigns of `fixed_size(question)` trials a point, read by the number of failures from which
/// that test says `often`, with exact intervals.
SimulatedCampaigns plan_simulated(const RateQuestion& question, const PlantedBoundary& planted,
                                  int campaigns, uint64_t seed);

/// In how many of `sequences` of Bernoulli trials of `rate` the confidence sequence left the rate
/// out at least once in `length` trials: at the worst of all stopping times.
int sequences_left(double rate, int sequences, int length, uint64_t seed);

}  // namespace mpsprobe
