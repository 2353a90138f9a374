#pragma once

#include <cstdint>
#include <random>

#include "harness/statistics/fisher.h"

namespace mpsprobe {

/// Trials of planted rates, for simulations. 53 bits of std::mt19937_64, whose output the standard
/// fixes, where its distributions differ from library to library: the same seed gives the same
/// trials everywhere. Not thread safe.
class SimulatedTrials {
 public:
  explicit SimulatedTrials(uint64_t seed) : random_(seed) {}

  /// In [0, 1).
  double uniform() { return static_cast<double>(random_() >> 11U) * 0x1p-53; }
  bool fails(double rate) { return uniform() < rate; }
  /// So many trials of one rate.
  Proportion tried(double rate, int trials) {
    Proportion seen{0, trials};
    for (int i = 0; i < trials; ++i) seen.failures += fails(rate) ? 1 : 0;
    return seen;
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace mpsprobe
