#include "harness/statistics/known_rate.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "harness/statistics/simulated_nights.h"

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

// A small simulation of what decisions_bench measures.
TEST(KnownRate, KeepsFewNightsRedAndIsSoonWhereItRises) {
  constexpr int kFew = 40;
  const SimulatedRecord known{0.1, 1000, 10};
  EXPECT_LE(red_nights(known, kFew, 24), 1.0);
  EXPECT_LE(delay_of_rise(known, 0.2, 0, kFew, 24), 12);
  EXPECT_LE(delay_of_rise(known, 0.3, 0, kFew, 24), 5);
  EXPECT_LE(called_gone({0.01, 1000, 10}, kFew, 24), 2);
}

}  // namespace
}  // namespace mpsprobe
