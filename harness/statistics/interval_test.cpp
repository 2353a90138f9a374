#include "harness/statistics/interval.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace mpsprobe {
namespace {

TEST(ExactInterval, NoFailureHasAClosedForm) {
  for (int trials : {1, 3, 10, 59, 100, 10000}) {
    const Interval interval = exact_interval(0, trials);
    EXPECT_EQ(interval.low, 0);
    EXPECT_NEAR(interval.high, 1 - std::pow(0.025, 1.0 / trials), 1e-12);
  }
}

// Of 64 cells at 35% one is 0 of 10 in half of the runs: what it is below is over all of them.
TEST(ExactInterval, OfOneOfSeveralCellsHoldsForAllAtOnce) {
  EXPECT_NEAR(exact_interval(0, 10, 64).high, 1 - std::pow(0.025 / 64, 1.0 / 10), 1e-12);
  EXPECT_EQ(exact_interval(3, 10, 1).low, exact_interval(3, 10).low);
  EXPECT_LT(exact_interval(3, 10, 2).low, exact_interval(3, 10).low);
  EXPECT_THROW(exact_interval(0, 10, 0), std::invalid_argument);
}

TEST(ExactInterval, OnlyFailuresMirrorsNone) {
  for (int trials : {1, 3, 10, 59}) {
    const Interval all = exact_interval(trials, trials);
    EXPECT_EQ(all.high, 1);
    EXPECT_NEAR(all.low, 1 - exact_interval(0, trials).high, 1e-12);
  }
}

// Values as published tables of Clopper-Pearson limits give them.
TEST(ExactInterval, BetweenMatchesPublishedLimits) {
  const Interval one = exact_interval(1, 10);
  EXPECT_NEAR(one.low, 0.0025, 0.00005);
  EXPECT_NEAR(one.high, 0.4450, 0.00005);
  const Interval three = exact_interval(3, 10);
  EXPECT_NEAR(three.low, 0.0667, 0.00005);
  EXPECT_NEAR(three.high, 0.6525, 0.00005);
  const Interval half = exact_interval(50, 100);
  EXPECT_NEAR(half.low, 0.3983, 0.00005);
  EXPECT_NEAR(half.high, 0.6017, 0.00005);
}

// The definition itself: under the bound, a result at least as extreme has exactly 2.5%.
TEST(ExactInterval, BoundsLeaveTheirShareInTheTails) {
  const Interval interval = exact_interval(2, 7);
  const auto at_most = [](int k, double p) {
    double sum = 0;
    for (int i = 0; i <= k; ++i) {
      sum += std::tgamma(8) / std::tgamma(i + 1) / std::tgamma(8 - i) * std::pow(p, i) *
             std::pow(1 - p, 7 - i);
    }
    return sum;
  };
  EXPECT_NEAR(at_most(2, interval.high), 0.025, 1e-9);
  EXPECT_NEAR(1 - at_most(1, interval.low), 0.025, 1e-9);
}

// Over all rates and numbers of trials: the chance of the results whose interval holds the rate.
TEST(ExactInterval, HoldsEveryRateWithNinetyFivePercent) {
  double least = 1;
  for (int trials = 1; trials <= 60; ++trials) {
    std::vector<Interval> intervals;
    for (int k = 0; k <= trials; ++k) intervals.push_back(exact_interval(k, trials));
    for (int percent = 0; percent <= 100; ++percent) {
      const double rate = percent / 100.0;
      double held = 0;
      double chance = std::pow(1 - rate, trials);  // of k failures
      for (int k = 0; k <= trials; ++k) {
        const Interval& interval = intervals[static_cast<size_t>(k)];
        if (percent == 100) chance = k == trials ? 1 : 0;
        if (interval.low <= rate && rate <= interval.high) held += chance;
        if (percent < 100) chance *= (trials - k) / (k + 1.0) * rate / (1 - rate);
      }
      least = std::min(least, held);
    }
  }
  EXPECT_GE(least, 0.95);
  EXPECT_LT(least, 0.96);  // and is no wider than it has to be
  RecordProperty("least_coverage", std::to_string(least));
}

TEST(ExactInterval, NoTrialsSayNothing) {
  const Interval interval = exact_interval(0, 0);
  EXPECT_EQ(interval.low, 0);
  EXPECT_EQ(interval.high, 1);
}

TEST(ExactInterval, RefusesCountsThatCannotBe) {
  EXPECT_THROW(exact_interval(3, 2), std::invalid_argument);
  EXPECT_THROW(exact_interval(-1, 2), std::invalid_argument);
  EXPECT_THROW(exact_interval(0, -1), std::invalid_argument);
}

TEST(ConfidenceInWords, SaysWhatAResultIsWorth) {
  EXPECT_EQ(confidence_in_words(0, 10), "0 of 10 failed: below 31% with 95% confidence");
  EXPECT_EQ(confidence_in_words(0, 72), "0 of 72 failed: below 5% with 95% confidence");
  EXPECT_EQ(confidence_in_words(0, 71), "0 of 71 failed: below 6% with 95% confidence");
  EXPECT_EQ(confidence_in_words(0, 1), "0 of 1 failed: below 98% with 95% confidence");
  EXPECT_EQ(confidence_in_words(0, 1000), "0 of 1000 failed: below 0.4% with 95% confidence");
  EXPECT_EQ(confidence_in_words(10, 10), "10 of 10 failed: above 69% with 95% confidence");
  EXPECT_EQ(confidence_in_words(1000, 1000),
            "1000 of 1000 failed: above 99.6% with 95% confidence");
  EXPECT_EQ(confidence_in_words(3, 10), "3 of 10 failed: 6% to 66% with 95% confidence");
  EXPECT_EQ(confidence_in_words(0, 0), "no trial counts");
}

TEST(Percent, RoundsOutwardsAndNeverClaimsNothingOrEverything) {
  EXPECT_EQ(percent_up(0.26), "26%");
  EXPECT_EQ(percent_down(0.29), "29%");
  EXPECT_EQ(percent_up(0.261), "27%");
  EXPECT_EQ(percent_down(0.269), "26%");
  EXPECT_EQ(percent_up(0.0004), "0.1%");
  EXPECT_EQ(percent_down(0.9999), "99.9%");
  EXPECT_EQ(percent_up(0), "0%");
  EXPECT_EQ(percent_down(0), "0%");
  EXPECT_EQ(percent_down(1), "100%");
}

TEST(Spread, MedianLowAndHigh) {
  EXPECT_FALSE(spread_of({}));
  const std::vector<double> odd{3, 1, 2};
  EXPECT_EQ(spread_of(odd)->median, 2);
  const std::vector<double> even{4, 1, 3, 2};
  EXPECT_EQ(spread_of(even)->median, 2.5);
  EXPECT_EQ(spread_of(even)->low, 1);
  EXPECT_EQ(spread_of(even)->high, 4);
  EXPECT_EQ(spread_of(even)->samples, 4);
}

TEST(Spread, LeavesOutWhatIsNoNumber) {
  const std::vector<double> samples{std::nan(""), 5, std::numeric_limits<double>::infinity()};
  EXPECT_EQ(spread_of(samples)->median, 5);
  EXPECT_EQ(spread_of(samples)->samples, 1);
}

}  // namespace
}  // namespace mpsprobe
