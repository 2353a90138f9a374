#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mpsprobe {

/// Builds with known failure rates, at one of which the rate changes, or at none.
struct PlantedChange {
  std::string name;
  double before = 0;
  double after = 0;
  bool culprit = true;  ///< false: all builds have the rate `before`
};

/// The changes with which bisection is measured: from 0, 1, 5, 10 and 30% to 10, 20, 40 and 100%
/// where that is 10 points or more, the same the other way round, and series without a culprit.
std::vector<PlantedChange> planted_changes();

/// What simulated bisections came to.
struct SimulatedBisections {
  int bisections = 0;
  int right = 0;      ///< the planted build, and whether it began or ended; or no culprit
  int undecided = 0;  ///< at `most_trials`
  int held = 0;       ///< of these, with what was planted among what is said to be possible
  double mean_trials = 0;
  int largest_trials = 0;

  int said() const { return bisections - undecided; }
};

/// Bisections over `builds` until an answer is as sure as `confidence`, each with the change at a
/// build that is drawn. Reproducible by `seed`.
SimulatedBisections bisect_simulated(const PlantedChange& planted, size_t builds, double confidence,
                                     int most_trials, int bisections, uint64_t seed);

}  // namespace mpsprobe
