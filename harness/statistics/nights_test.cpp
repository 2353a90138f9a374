#include "harness/statistics/nights.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "harness/statistics/simulated_nights.h"
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

// A small simulation of what decisions_bench measures.
TEST(Nights, AreNotCalledChangedBecauseTheyDiffer) {
  constexpr int kFew = series(20, 3);
  EXPECT_LE(false_changes(kFew, 24), 1);
  const ShiftDelay delay = delay_of_shift(60, kFew, 24);
  EXPECT_LE(delay.median, 7);
  EXPECT_EQ(delay.missed, 0);
  EXPECT_EQ(delay.early, 0);
}

}  // namespace
}  // namespace mpsprobe
