#pragma once

#include <cstdint>

namespace mpsprobe {

/// Runs of operations whose conditions are known.
struct PlantedNeeds {
  double rate = 0.5;          ///< of failures where every condition is met
  int trials = 30;            ///< of each cell
  double without_share = 1;   ///< of that rate, where a condition that is not needed is not met
  bool all_the_same = false;  ///< every operation needs all four conditions
};

/// What the grouping made of them.
struct SimulatedGroups {
  int worlds = 0;
  int false_joins = 0;  ///< worlds in which two operations of unlike conditions are in one group
  int whole = 0;        ///< worlds in which all operations are in one group
};

/// Worlds of eight operations with four conditions each, every one needed or not by a coin unless
/// `all_the_same`; each with its control. Reproducible by `seed`.
SimulatedGroups group_simulated(const PlantedNeeds& planted, int worlds, uint64_t seed);

}  // namespace mpsprobe
