#include "harness/statistics/simulated_nights.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "harness/statistics/known_rate.h"
#include "harness/statistics/nights.h"
#include "harness/statistics/simulated_trials.h"

namespace mpsprobe {
namespace {

constexpr int kNights = 90;
constexpr int kNightTrials = 10;
constexpr int kLongest = 60;  // that a change is waited for

Proportion simulated_night(SimulatedTrials& random, double rate, int trials = kNightTrials) {
  Proportion night{0, trials};
  for (int i = 0; i < trials; ++i) night.failures += random.fails(rate) ? 1 : 0;
  return night;
}

/// A failure is known since it was seen.
Proportion record_of(SimulatedTrials& random, const SimulatedRecord& known) {
  for (;;) {
    const Proportion record = simulated_night(random, known.rate, known.recorded);
    if (record.failures > 0) return record;
  }
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

double red_nights(const SimulatedRecord& known, int series, uint64_t seed) {
  SimulatedTrials random(seed);
  int red = 0;
  for (int i = 0; i < series; ++i) {
    const Proportion record = record_of(random, known);
    std::vector<Proportion> nights;
    while (static_cast<int>(nights.size()) < kNights) {
      nights.push_back(simulated_night(random, known.rate, known.night_trials));
      red += weigh_nights(record, nights).more_often >= kClaimedDrift ? 1 : 0;
    }
  }
  return static_cast<double>(red) / series;
}

int delay_of_rise(const SimulatedRecord& known, double risen, int quiet, int series,
                  uint64_t seed) {
  SimulatedTrials random(seed);
  std::vector<int> delays;
  for (int i = 0; i < series; ++i) {
    const Proportion record = record_of(random, known);
    std::vector<Proportion> nights;
    for (int night = 0; night < quiet; ++night) {
      nights.push_back(simulated_night(random, known.rate, known.night_trials));
    }
    int late = 0;
    do {
      ++late;
      nights.push_back(simulated_night(random, risen, known.night_trials));
    } while (late <= kLongest && weigh_nights(record, nights).more_often < kClaimedDrift);
    delays.push_back(late);
  }
  std::nth_element(delays.begin(), delays.begin() + series / 2, delays.end());
  return delays[static_cast<size_t>(series / 2)];
}

int called_gone(const SimulatedRecord& known, int series, uint64_t seed) {
  SimulatedTrials random(seed);
  int called = 0;
  for (int i = 0; i < series; ++i) {
    Proportion seen = record_of(random, known);
    std::vector<int> silent;
    bool gone = false;
    for (int night = 0; night < kNights; ++night) {
      const Proportion tonight = simulated_night(random, known.rate, known.night_trials);
      silent.push_back(tonight.trials);
      if (tonight.failures == 0) {
        gone = gone || chance_gone(seen, silent) >= kClaimedGone;
        continue;
      }
      for (const int trials : silent) seen.trials += trials;
      seen.failures += tonight.failures;
      silent.clear();
    }
    called += gone ? 1 : 0;
  }
  return called;
}

}  // namespace mpsprobe
