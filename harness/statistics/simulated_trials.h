#pragma once

#include <cstdint>
#include <random>

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

 private:
  std::mt19937_64 random_;
};

}  // namespace mpsprobe
