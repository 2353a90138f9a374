#include "harness/statistics/anytime.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace mpsprobe {
namespace {

constexpr int kLength = 100;

/// The intervals of all results of up to kLength trials.
template <typename Of>
std::vector<std::vector<Interval>> all_intervals(Of of) {
  std::vector<std::vector<Interval>> all;
  for (int n = 0; n <= kLength; ++n) {
    all.emplace_back();
    for (int k = 0; k <= n; ++k) all.back().push_back(of(k, n));
  }
  return all;
}

/// The chance that an interval ever leaves `rate` out, looked at after each trial: exact, by going
/// through all numbers of failures that are reached.
double ever_left(const std::vector<std::vector<Interval>>& intervals, double rate) {
  std::vector<double> reached{1};
  double left = 0;
  for (size_t n = 1; n < intervals.size(); ++n) {
    std::vector<double> next(n + 1, 0);
    for (size_t k = 0; k < reached.size(); ++k) {
      next[k] += reached[k] * (1 - rate);
      next[k + 1] += reached[k] * rate;
    }
    for (size_t k = 0; k < next.size(); ++k) {
      const Interval& interval = intervals[n][k];
      if (interval.low <= rate && rate <= interval.high) continue;
      left += next[k];
      next[k] = 0;
    }
    reached = next;
  }
  return left;
}

TEST(AnytimeInterval, HoldsTheRateAtEveryStoppingTimeAtOnce) {
  const auto intervals = all_intervals([](int k, int n) { return anytime_interval(k, n); });
  double most = 0;
  for (int percent = 0; percent <= 100; ++percent) {
    most = std::max(most, ever_left(intervals, percent / 100.0));
  }
  EXPECT_LE(most, 0.05);
  RecordProperty("ever_left", std::to_string(most));
}

TEST(AnytimeInterval, IsNeededSinceAnExactOneDoesNot) {
  EXPECT_GT(ever_left(all_intervals([](int k, int n) { return exact_interval(k, n); }), 0.3), 0.1);
}

TEST(AnytimeInterval, IsTheRatesAtWhichTheMixtureIsBelowTwenty) {
  // By hand: after one failure in one trial M(p) = 1/2 / p, which is 20 at p = 1/40.
  EXPECT_NEAR(anytime_interval(1, 1).low, 0.025, 1e-8);
  EXPECT_EQ(anytime_interval(1, 1).high, 1);
  EXPECT_NEAR(anytime_interval(0, 1).high, 0.975, 1e-8);
  EXPECT_EQ(anytime_interval(0, 1).low, 0);
  EXPECT_EQ(anytime_interval(0, 0).high, 1);
  EXPECT_THROW(anytime_interval(2, 1), std::invalid_argument);
}

TEST(AnytimePValue, TellsNineOfTenFromNoneAndNotFromTen) {
  EXPECT_LT(anytime_p_value({9, 10}, {0, 10}), 0.01);
  EXPECT_EQ(anytime_p_value({9, 10}, {10, 10}), 1);
  EXPECT_EQ(anytime_p_value({0, 0}, {0, 0}), 1);
  EXPECT_THROW(anytime_p_value({-1, 1}, {0, 1}), std::invalid_argument);
}

TEST(AnytimePValue, SeldomAccusesHoweverLongOneLooks) {
  // Both sides fail at `rate`, in turn, and one looks after each pair: exact.
  for (const double rate : {0.02, 0.1, 0.5}) {
    constexpr int kPairs = 25;
    std::vector<std::vector<double>> reached{{1}};
    double accused = 0;
    for (int n = 1; n <= kPairs; ++n) {
      const auto size = static_cast<size_t>(n) + 1;
      std::vector<std::vector<double>> next(size, std::vector<double>(size, 0));
      for (size_t a = 0; a < reached.size(); ++a) {
        for (size_t b = 0; b < reached.size(); ++b) {
          const double chance = reached[a][b];
          next[a][b] += chance * (1 - rate) * (1 - rate);
          next[a + 1][b] += chance * rate * (1 - rate);
          next[a][b + 1] += chance * (1 - rate) * rate;
          next[a + 1][b + 1] += chance * rate * rate;
        }
      }
      for (size_t a = 0; a < size; ++a) {
        for (size_t b = 0; b < size; ++b) {
          const double p = anytime_p_value({static_cast<int>(a), n}, {static_cast<int>(b), n});
          if (p > 0.05) continue;
          accused += next[a][b];
          next[a][b] = 0;
        }
      }
      reached = next;
    }
    EXPECT_LE(accused, 0.05) << "rate " << rate;
  }
}

}  // namespace
}  // namespace mpsprobe
