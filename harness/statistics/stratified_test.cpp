#include "harness/statistics/stratified.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "harness/statistics/simulated_trials_for_tests.h"

namespace mpsprobe {
namespace {

TEST(Stratified, IsFishersTestForOneStratum) {
  const Stratum one{{9, 10}, {1, 12}};
  EXPECT_EQ(stratified_exact(std::array{one}), fisher_exact(one.first, one.second));
}

// R: mantelhaen.test(array(c(7,3,1,9, 9,1,4,6), c(2,2,2)), exact = TRUE) by hand: the sum of two
// hypergeometric counts.
TEST(Stratified, AddsUpWhatTheStrataShow) {
  const std::array<Stratum, 2> strata{Stratum{{7, 10}, {1, 10}}, Stratum{{9, 10}, {4, 10}}};
  const auto choose = [](int n, int k) {
    return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1));
  };
  std::vector<double> chances(24, 0);
  for (int a = 0; a <= 8; ++a) {
    for (int b = 3; b <= 10; ++b) {
      chances[static_cast<size_t>(a + b)] += choose(10, a) * choose(10, 8 - a) / choose(20, 8) *
                                             choose(10, b) * choose(10, 13 - b) / choose(20, 13);
    }
  }
  double p = 0;
  for (const double chance : chances) p += chance <= chances[16] * 1.0000001 ? chance : 0;
  EXPECT_NEAR(stratified_exact(strata), p, 1e-9);
  EXPECT_LT(p, fisher_exact({7, 10}, {1, 10}));
  EXPECT_LT(p, fisher_exact({9, 10}, {4, 10}));
}

// Added up, 10 of 100 against 90 of 100 look unlike: it is the strata that differ, not the sides.
TEST(Stratified, IsNotFooledByUnequalShares) {
  const std::array<Stratum, 2> strata{Stratum{{10, 100}, {1, 10}}, Stratum{{9, 10}, {90, 100}}};
  EXPECT_GT(stratified_exact(strata), 0.9);
  EXPECT_NEAR(excess_failures(strata), 0, 1e-9);
  EXPECT_LT(excess_failures(std::array{Stratum{{1, 10}, {9, 10}}}), 0);
}

TEST(Stratified, NothingThatTellsIsOne) {
  EXPECT_EQ(stratified_exact({}), 1);
  EXPECT_EQ(stratified_exact(std::array{Stratum{{0, 10}, {0, 10}}, Stratum{{5, 5}, {3, 3}}}), 1);
  EXPECT_EQ(stratified_p_value(Sampling::looking, {}), 1);
}

TEST(Stratified, ClaimsFalselyInAtMostFivePercent) {
  SimulatedTrials trials(11);
  constexpr int kWorlds = 2000;
  for (const Sampling sampling : {Sampling::fixed, Sampling::looking}) {
    int claims = 0;
    for (int world = 0; world < kWorlds; ++world) {
      std::array<Stratum, 3> strata;
      for (Stratum& stratum : strata) {
        const double rate = trials.uniform();
        for (int i = 0; i < 10; ++i) {
          stratum.first.failures += trials.fails(rate) ? 1 : 0;
          stratum.second.failures += trials.fails(rate) ? 1 : 0;
        }
        stratum.first.trials = 10;
        stratum.second.trials = 10;
      }
      claims += stratified_p_value(sampling, strata) < 0.05 ? 1 : 0;
    }
    EXPECT_LE(claims, kWorlds / 20);
  }
}

TEST(MedianInterval, NeedsSixSamples) {
  EXPECT_FALSE(median_interval({}));
  EXPECT_FALSE(median_interval(std::array{1.0, 2.0, 3.0, 4.0, 5.0}));
  const auto six = median_interval(std::array{3.0, 1.0, 2.0, 6.0, 5.0, 4.0});
  ASSERT_TRUE(six);
  EXPECT_EQ(six->low, 1);
  EXPECT_EQ(six->high, 6);
  EXPECT_FALSE(median_interval(std::array{1.0, 2.0, 3.0, 4.0, 5.0, std::nan("")}));
}

TEST(MedianInterval, HoldsTheMedianInNinetyFivePercent) {
  SimulatedTrials trials(12);
  for (const int n : {6, 7, 10, 20, 59}) {
    int held = 0;
    constexpr int kWorlds = 2000;
    for (int world = 0; world < kWorlds; ++world) {
      std::vector<double> samples;
      for (int i = 0; i < n; ++i) samples.push_back(-std::log(1 - trials.uniform()));
      const auto interval = median_interval(samples);
      ASSERT_TRUE(interval);
      const double median = std::log(2.0);
      held += interval->low <= median && median <= interval->high ? 1 : 0;
    }
    EXPECT_GE(held, kWorlds * 94 / 100) << n;  // within three standard deviations of the simulation
  }
}

}  // namespace
}  // namespace mpsprobe
