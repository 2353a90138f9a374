#include "harness/statistics/simulated_nights.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "harness/statistics/nights.h"
#include "harness/statistics/simulated_trials.h"

namespace mpsprobe {
namespace {

constexpr int kNights = 90;
constexpr int kNightTrials = 10;

Proportion simulated_night(SimulatedTrials& random, double rate) {
  Proportion night{0, kNightTrials};
  for (int i = 0; i < kNightTrials; ++i) night.failures += random.fails(rate) ? 1 : 0;
  return night;
}

/// Of Beta(a, b), a and b above 1, by rejection from the uniform.
double beta_rate(SimulatedTrials& random, double a, double b) {
  const double mode = (a - 1) / (a + b - 2);
  const auto core = [a, b](double x) { return std::pow(x, a - 1) * std::pow(1 - x, b - 1); };
  for (;;) {
    const double x = random.uniform();
    if (random.uniform() * core(mode) <= core(x)) return x;
  }
}

template <typename Rate>
int claimed_in(int series, SimulatedTrials& random, Rate rate) {
  int claimed = 0;
  for (int i = 0; i < series; ++i) {
    std::vector<Proportion> nights;
    bool found = false;
    while (!found && static_cast<int>(nights.size()) < kNights) {
      nights.push_back(simulated_night(random, rate()));
      found = find_shift(nights).chance >= kClaimedShift;
    }
    claimed += found ? 1 : 0;
  }
  return claimed;
}

}  // namespace

int false_changes(int series, uint64_t seed) {
  constexpr double kMean = 0.2;
  constexpr double kDeviation = 0.15;
  constexpr double kSum = kMean * (1 - kMean) / (kDeviation * kDeviation) - 1;
  SimulatedTrials random(seed);
  return claimed_in(series, random,
                    [&random] { return beta_rate(random, kMean * kSum, (1 - kMean) * kSum); });
}

int false_changes_at(double rate, int series, uint64_t seed) {
  SimulatedTrials random(seed);
  return claimed_in(series, random, [rate] { return rate; });
}

ShiftDelay delay_of_shift(int quiet, int series, uint64_t seed) {
  constexpr int kLongest = 60;
  constexpr double kNewRate = 0.1;
  SimulatedTrials random(seed);
  ShiftDelay delay;
  std::vector<int> delays;
  for (int i = 0; i < series; ++i) {
    std::vector<Proportion> nights(static_cast<size_t>(quiet), Proportion{0, kNightTrials});
    delay.early += find_shift(nights).chance >= kClaimedShift ? 1 : 0;
    int late = 0;
    while (late < kLongest) {
      ++late;
      nights.push_back(simulated_night(random, kNewRate));
      if (find_shift(nights).chance >= kClaimedShift) break;
    }
    if (find_shift(nights).chance < kClaimedShift) {
      ++delay.missed;
      late = kLongest + 1;
    }
    delays.push_back(late);
  }
  std::nth_element(delays.begin(), delays.begin() + series / 2, delays.end());
  delay.median = delays[static_cast<size_t>(series / 2)];
  return delay;
}

}  // namespace mpsprobe
