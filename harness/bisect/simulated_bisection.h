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

/// The changes with which bisection is measured: 100, 30 and 10% that began after none, the same
/// ended, a rate that rose, and series without a culprit.
std::vector<PlantedChange> planted_changes();

/// What simulated bisections came to.
struct SimulatedBisections {
  int bisections = 0;
  int right = 0;      ///< the planted build, and whether it began or ended; or no culprit
  int undecided = 0;  ///< at `most_trials`
  double mean_trials = 0;
  int largest_trials = 0;
};

/// Bisections over `builds` until one place has the chance `confidence`, each with the change at a
/// build that is drawn. Reproducible by `seed`.
SimulatedBisections bisect_simulated(const PlantedChange& planted, size_t builds, double confidence,
                                     int most_trials, int bisections, uint64_t seed);

}  // namespace mpsprobe
