#include "harness/statistics/known_rate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "harness/statistics/simulated_trials_for_tests.h"
#include "harness/test_series.h"

namespace mpsprobe {
namespace {

using Nights = std::vector<Proportion>;

TEST(KnownRate, ClaimsOftenerFailuresAndSaysSinceWhen) {
  const Nights nights{{1, 10}, {0, 10}, {2, 10}, {6, 10}, {5, 10}};
  const RateDrift drift = weigh_nights({10, 100}, nights);
  EXPECT_GE(drift.more_often, kClaimedDrift);
  EXPECT_EQ(drift.more_since, 3U);
  EXPECT_LT(drift.less_often, kClaimedDrift);
}

TEST(KnownRate, ClaimsRarerFailuresLikewise) {
  const Nights nights{{9, 10}, {2, 10}, {1, 10}};
  const RateDrift drift = weigh_nights({90, 100}, nights);
  EXPECT_GE(drift.less_often, kClaimedDrift);
  EXPECT_EQ(drift.less_since, 1U);
  EXPECT_LT(drift.more_often, kClaimedDrift);
}

// The same night is news against a rate that is known well, and none against a guess.
TEST(KnownRate, WhatIsHardlyKnownIsHardlyContradicted) {
  EXPECT_GE(weigh_nights({100, 1000}, Nights{{6, 10}}).more_often, kClaimedDrift);
  EXPECT_LT(weigh_nights({1, 10}, Nights{{6, 10}}).more_often, kClaimedDrift);
  EXPECT_EQ(weigh_nights({0, 0}, Nights{{10, 10}}).more_often, 0);
  EXPECT_EQ(weigh_nights({1, 10}, Nights{}).more_often, 0);
  EXPECT_EQ(weigh_nights({1, 10}, Nights{{0, 0}}).more_often, 0);
}

TEST(KnownRate, IsGoneWhereItsOwnRateMakesTheSilenceImprobable) {
  const std::vector<int> ten_nights(10, 10);
  EXPECT_GE(chance_gone({50, 100}, ten_nights), kClaimedGone);
  EXPECT_LT(chance_gone({1, 100}, ten_nights), 0.5);
  EXPECT_EQ(chance_gone({0, 100}, ten_nights), 0);
  EXPECT_EQ(chance_gone({5, 10}, {}), 0);
  // Of a defect of 1% no 458 trials tell, even were it known exactly.
  EXPECT_LT(chance_gone({100, 10'000}, std::vector<int>{458}), kClaimedGone);
  EXPECT_GE(chance_gone({100, 10'000}, std::vector<int>(80, 10)), kClaimedGone);
}

TEST(KnownRate, ImpossibleCountsAreRefused) {
  EXPECT_THROW(weigh_nights({2, 1}, {}), std::invalid_argument);
  EXPECT_THROW(weigh_nights({1, 1}, Nights{{-1, 1}}), std::invalid_argument);
  EXPECT_THROW(chance_gone({2, 1}, {}), std::invalid_argument);
  EXPECT_THROW(chance_gone({1, 1}, std::vector<int>{-1}), std::invalid_argument);
}

/// Series of 90 nights after a failure became known by `recorded` trials at its rate.
struct KnownSeries {
  double rate = 0.1;
  int recorded = 100;
  int night_trials = 10;
  int many = worlds(40);

  /// It is known since it was seen.
  Proportion record(SimulatedTrials& random) const {
    for (;;) {
      const Proportion seen = random.tried(rate, recorded);
      if (seen.failures > 0) return seen;
    }
  }

  /// Nights, of the 90 of a series in the mean, on which it was claimed to fail more often, though
  /// its rate stays what it is.
  double red_nights() const {
    SimulatedTrials random(24);
    int red = 0;
    for (int i = 0; i < many; ++i) {
      const Proportion known = record(random);
      Nights nights;
      while (nights.size() < 90) {
        nights.push_back(random.tried(rate, night_trials));
        red += weigh_nights(known, nights).more_often >= kClaimedDrift ? 1 : 0;
      }
    }
    return static_cast<double>(red) / many;
  }

  /// Nights from the first one with the rate `risen` until that is claimed, after `quiet` nights at
  /// the known one: the median. One more than 60 where it never was.
  int delay_of_rise(double risen, int quiet) const {
    SimulatedTrials random(24);
    std::vector<int> delays;
    for (int i = 0; i < many; ++i) {
      const Proportion known = record(random);
      Nights nights;
      for (int night = 0; night < quiet; ++night) {
        nights.push_back(random.tried(rate, night_trials));
      }
      int late = 0;
      do {
        ++late;
        nights.push_back(random.tried(risen, night_trials));
      } while (late <= 60 && weigh_nights(known, nights).more_often < kClaimedDrift);
      delays.push_back(late);
    }
    std::sort(delays.begin(), delays.end());
    return delays[delays.size() / 2];
  }

  /// In how many series it was called gone on any of the nights, though it lives on.
  int called_gone() const {
    SimulatedTrials random(24);
    int called = 0;
    for (int i = 0; i < many; ++i) {
      Proportion seen = record(random);
      std::vector<int> silent;
      bool gone = false;
      for (int night = 0; night < 90; ++night) {
        const Proportion tonight = random.tried(rate, night_trials);
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
};

TEST(KnownRate, KeepsFewNightsRedAndIsSoonWhereItRises) {
  const KnownSeries known{0.1, 1000};
  EXPECT_LE(known.red_nights(), 1.0);
  EXPECT_LE(known.delay_of_rise(0.2, 0), 12);
  EXPECT_LE(known.delay_of_rise(0.3, 0), 5);
  const KnownSeries seldom{0.01, 1000};
  EXPECT_LE(seldom.called_gone(), seldom.many / 20);
  if (!all_worlds()) return;
  measured(
      "rate, recorded, trials a night: red of 90, called gone, nights to twice, to three times");
  for (const double rate : {0.01, 0.1, 0.3}) {
    for (const int recorded : {30, 100, 1000}) {
      for (const int trials : {10, 50}) {
        const KnownSeries each{rate, recorded, trials};
        measured(fmt::format("{}, {}, {}: {}, {} of {}, {}, {}", rate, recorded, trials,
                             each.red_nights(), each.called_gone(), each.many,
                             each.delay_of_rise(2 * rate, 30), each.delay_of_rise(3 * rate, 30)));
      }
    }
  }
}

}  // namespace
}  // namespace mpsprobe
