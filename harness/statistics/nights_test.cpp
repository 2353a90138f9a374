#include "harness/statistics/nights.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "harness/statistics/simulated_trials_for_tests.h"
#include "harness/test_series.h"

namespace mpsprobe {
namespace {

std::vector<Proportion> repeated(std::vector<Proportion> nights, const Proportion& night,
                                 size_t times) {
  nights.insert(nights.end(), times, night);
  return nights;
}

TEST(Nights, FindsTheNightAtWhichARateChangedForGood) {
  const std::vector<Proportion> nights = repeated(repeated({}, {0, 10}, 30), {4, 10}, 6);
  const RateShift shift = find_shift(nights);
  EXPECT_GT(shift.chance, 0.99);
  EXPECT_EQ(shift.likeliest(), 30U);
  EXPECT_LT(shift.before, 0.03);
  EXPECT_NEAR(shift.after, 0.4, 0.1);
  EXPECT_LE(shift.within().first, 30U);
  EXPECT_GE(shift.within().last, 30U);
}

TEST(Nights, ABadNightIsNoChange) {
  std::vector<Proportion> nights = repeated({}, {0, 10}, 30);
  nights.push_back({6, 10});
  nights = repeated(nights, {0, 10}, 10);
  EXPECT_TRUE(claimed_shifts(nights).empty());
}

TEST(Nights, ClaimsSeveralChangesInOrder) {
  const std::vector<Proportion> nights =
      repeated(repeated(repeated({}, {0, 20}, 25), {10, 20}, 25), {0, 20}, 25);
  const std::vector<ClaimedShift> claimed = claimed_shifts(nights);
  ASSERT_EQ(claimed.size(), 2U);
  EXPECT_EQ(claimed[0].night, 25U);
  EXPECT_EQ(claimed[1].night, 50U);
  EXPECT_GT(claimed[0].shift.after, claimed[0].shift.before);
  EXPECT_LT(claimed[1].shift.after, claimed[1].shift.before);
}

TEST(Nights, OneNightOrNoneSaysNothing) {
  EXPECT_EQ(find_shift({}).chance, 0);
  EXPECT_EQ(find_shift(std::vector<Proportion>{{5, 10}}).chance, 0);
  EXPECT_TRUE(claimed_shifts(repeated({}, {0, 0}, 5)).empty());
  EXPECT_THROW(find_shift(std::vector<Proportion>{{2, 1}, {0, 1}}), std::invalid_argument);
}

// Series of nights with 10 trials each.
constexpr int kNightTrials = 10;
constexpr uint64_t kNightsSeed = 24;

/// Of Beta(a, b), a and b above 1, by rejection from the uniform.
double beta_rate(SimulatedTrials& random, double a, double b) {
  const double mode = (a - 1) / (a + b - 2);
  const auto core = [a, b](double x) { return std::pow(x, a - 1) * std::pow(1 - x, b - 1); };
  for (;;) {
    const double x = random.uniform();
    if (random.uniform() * core(mode) <= core(x)) return x;
  }
}

/// In how many of `series` of 90 nights, each of the rate that `rate` draws, a change was claimed
/// at any of the nightly looks.
template <typename Rate>
int claimed_in(int series, Rate rate) {
  SimulatedTrials random(kNightsSeed);
  int claimed = 0;
  for (int i = 0; i < series; ++i) {
    std::vector<Proportion> nights;
    bool found = false;
    while (!found && nights.size() < 90) {
      nights.push_back(random.tried(rate(random), kNightTrials));
      found = find_shift(nights).chance >= kClaimedShift;
    }
    claimed += found ? 1 : 0;
  }
  return claimed;
}

TEST(Nights, AreNotCalledChangedBecauseTheyDiffer) {
  const int many = worlds(series(20, 3));
  // Beta, mean .2, standard deviation .15
  constexpr double kMean = 0.2;
  constexpr double kSum = kMean * (1 - kMean) / (0.15 * 0.15) - 1;
  const int false_changes = claimed_in(many, [](SimulatedTrials& random) {
    return beta_rate(random, kMean * kSum, (1 - kMean) * kSum);
  });
  EXPECT_LE(false_changes, 1 + many / 50);
  measured(fmt::format("of rates that vary {} of {} are called changed", false_changes, many));
  if (!all_worlds()) return;
  for (const double rate : {0.0, 0.02, 0.1, 0.5}) {
    const int of_constant = claimed_in(many, [rate](SimulatedTrials&) { return rate; });
    EXPECT_LE(of_constant, many / 50);
    measured(fmt::format("of a constant rate of {}: {}", rate, of_constant));
  }
}

// Nights from the first one with a rate of 10%, after some with none, until a change is claimed.
TEST(Nights, AreCalledChangedSoonAfterARateRose) {
  constexpr int kLongest = 60;  // that a change is waited for
  const int many = worlds(series(20, 3));
  for (const int quiet : all_worlds() ? std::vector{10, 30, 60} : std::vector{60}) {
    SimulatedTrials random(kNightsSeed);
    std::vector<int> delays;
    for (int i = 0; i < many; ++i) {
      std::vector<Proportion> nights(static_cast<size_t>(quiet), Proportion{0, kNightTrials});
      EXPECT_LT(find_shift(nights).chance, kClaimedShift);
      do {
        nights.push_back(random.tried(0.1, kNightTrials));
      } while (find_shift(nights).chance < kClaimedShift &&
               static_cast<int>(nights.size()) <= quiet + kLongest);
      delays.push_back(static_cast<int>(nights.size()) - quiet);
    }
    std::sort(delays.begin(), delays.end());
    const int median = delays[delays.size() / 2];
    if (quiet == 60) {
      EXPECT_LE(median, 7);
      EXPECT_LE(delays.back(), kLongest);
    }
    measured(fmt::format("after {} quiet nights {} nights, median, at most {}", quiet, median,
                         delays.back()));
  }
}

}  // namespace
}  // namespace mpsprobe
