#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "reproducers/minimise/minimise.h"

namespace mpsprobe {

/// One defect of a planted profile: where it occurs, how often, and as what.
struct PlantedBug {
  std::function<bool(const Cell&)> occurs;
  double rate = 1;
  std::string signature;
};

/// A defect in the shape of a function, with which the minimiser is measured: no process, no
/// threads, and a minimum that is known.
struct Planted {
  std::string name;
  Cell start;
  std::string signature;         ///< to keep
  Cell minimum;                  ///< what has to be found
  std::vector<PlantedBug> bugs;  ///< the first that strikes ends the trial
};

/// All profiles. Static storage.
std::span<const Planted> planted_profiles();

/// The operations that their cells name, with what they are made of.
const Operations& planted_operations();

/// Runs trials of a profile with random numbers of its own: the same seed, the same results.
class PlantedTrials {
 public:
  PlantedTrials(const Planted& profile, uint64_t seed) : profile_(profile), random_(seed) {}

  std::optional<TrialResult> operator()(const Cell& cell, int index);

 private:
  const Planted& profile_;
  std::mt19937_64 random_;
};

/// The probability that a trial of `cell` fails with the profile's signature.
double true_rate(const Planted& profile, const Cell& cell);

/// What a plain bisection costs that asks an oracle, which is always right, whether the failure
/// occurs at all: each axis that is off its default in turn, each part of the operation, each count
/// by halves. No question is asked twice.
struct PlainBisection {
  int once = 0;      ///< questions of one pass over all axes
  int repeated = 0;  ///< questions until a pass changes nothing, which is what `minimise` does
  Cell minimum;      ///< what it ends with
};
PlainBisection plain_bisection(const Planted& profile);

}  // namespace mpsprobe
