#pragma once

#include <cstdint>

namespace mpsprobe {

/// The seed of a trial, of its run's and its number: n trials of one seed would be one trial. That
/// of trial 0 is the run's, so that `--seed` with a trial's seed and `--trials 1` runs it again;
/// the others are the numbers of SplitMix64 (Steele, Lea and Flood 2014) that begin there, cut to
/// 48 bits: short to type, and whole in every JSON. Trials of one number have one seed in all
/// cells.
constexpr uint64_t trial_seed(uint64_t run_seed, int trial) {
  if (trial == 0) return run_seed;
  uint64_t z = run_seed + static_cast<uint64_t>(trial) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return (z ^ (z >> 31)) >> 16;
}

}  // namespace mpsprobe
