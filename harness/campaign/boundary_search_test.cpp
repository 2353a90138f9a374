#include "harness/campaign/boundary_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "harness/campaign/simulated_campaign.h"
#include "harness/test_series.h"

namespace mpsprobe {
namespace {

constexpr int kCampaigns = series(1000, 100);
constexpr uint64_t kSeed = 23;

TEST(BoundarySearch, TakesAFractionOfTheFixedPlanAndIsNotMoreOftenWrong) {
  const RateQuestion question = settling_question(0.1);
  double trials = 0;
  double fixed_trials = 0;
  int wrong = 0;
  int fixed_wrong = 0;
  int campaigns = 0;
  for (const PlantedBoundary& planted : planted_boundaries(question)) {
    if (!planted.of_the_question) continue;
    const SimulatedCampaigns settled = settle_simulated(question, planted, kCampaigns, kSeed);
    const SimulatedCampaigns fixed = plan_simulated(question, planted, kCampaigns, kSeed);
    trials += settled.mean_trials;
    fixed_trials += fixed.mean_trials;
    wrong += settled.wrong;
    fixed_wrong += fixed.wrong;
    campaigns += settled.campaigns;
  }
  EXPECT_LE(trials * kCampaigns / campaigns, 160);  // in the mean over the boundaries
  EXPECT_GE(fixed_trials * kCampaigns / campaigns, 472);
  EXPECT_LE(wrong, fixed_wrong);
  EXPECT_LE(wrong, campaigns / 10);  // 5% too low and 5% too high
}

// Not in the mean alone: what is said of each boundary holds for the place that is hardest.
TEST(BoundarySearch, IsWrongInATenthAtNoPlace) {
  for (const double rate : {0.1, 0.05}) {
    const RateQuestion question = settling_question(rate);
    for (const PlantedBoundary& planted : planted_boundaries(question)) {
      if (!planted.of_the_question) continue;
      const SimulatedCampaigns settled = settle_simulated(question, planted, kCampaigns, kSeed);
      EXPECT_LE(settled.wrong, settled.campaigns / 10) << rate << " " << planted.name;
    }
  }
}

// A hypothesis of a rate in between must not cost short lines their answer.
TEST(BoundarySearch, IsWrongInATenthAtNoPlaceOfAShortLine) {
  // A hundred would miss the bar by chance.
  constexpr int kMany = 1000;
  const RateQuestion question = settling_question(0.1);
  SimulatedTrials random(kSeed);
  for (const size_t counts : {1, 2, 3}) {
    for (size_t at = 0; at <= counts; ++at) {
      std::vector<double> rates(counts, question.seldom_rate);
      std::fill(rates.begin() + static_cast<std::ptrdiff_t>(at), rates.end(), question.often_rate);
      int right = 0;
      for (int campaign = 0; campaign < kMany; ++campaign) {
        const std::vector<Proportion> points = settled_points(question, rates, random);
        const PlaceOfBoundary place = place_of_boundary(question, points);
        right += place.first_failing == at && place.settled(question) ? 1 : 0;
      }
      EXPECT_GE(right, kMany * 9 / 10) << at << " of " << counts;
    }
  }
}

// Neither rate of the question: 1% is between 0.5% and 5%.
TEST(BoundarySearch, NamesNoPlaceWhereEveryCountFailsAsSeldom) {
  const RateQuestion question = settling_question(0.05);
  for (const PlantedBoundary& planted : planted_boundaries(question)) {
    if (planted.name.find("flat") == std::string::npos) continue;
    const SimulatedCampaigns settled = settle_simulated(question, planted, kCampaigns, kSeed);
    EXPECT_LE(settled.wrong, settled.campaigns / 10) << planted.name;
  }
  // However much was tried: no sum of logarithms leaves the range of a number.
  const std::vector<Proportion> many(8, {100'000, 10'000'000});
  EXPECT_EQ(place_of_boundary(question, many).first_failing, many.size());
  EXPECT_LT(place_of_boundary(question, many).wrong(), 1e-9);
}

TEST(BoundarySearch, FindsCountsThatPassAboveTheFirstFailure) {
  const RateQuestion question = settling_question(0.1);
  for (const PlantedBoundary& planted : planted_boundaries(question)) {
    if (planted.passing_above.empty() || planted.rates[planted.first_failing] < 0.5) continue;
    const SimulatedCampaigns settled = settle_simulated(question, planted, kCampaigns, kSeed);
    EXPECT_LE(settled.wrong, kCampaigns / 20) << planted.name;
    EXPECT_LE(settled.missed, kCampaigns / 20) << planted.name;
  }
}

TEST(BoundarySearch, AccusesNoCleanCellAndItsIntervalsHold) {
  const RateQuestion question = settling_question(0.1);
  for (const PlantedBoundary& planted : planted_boundaries(question)) {
    const SimulatedCampaigns settled = settle_simulated(question, planted, kCampaigns, kSeed);
    EXPECT_LE(settled.accused, kCampaigns / 20) << planted.name;
    EXPECT_LE(settled.uncovered, settled.intervals / 20) << planted.name;
  }
}

TEST(BoundarySearch, SaysWhatItWouldTryNext) {
  const RateQuestion question = settling_question(0.1);
  // Three that pass, three that fail: only the one next to the failing ones is in doubt.
  const std::vector<Proportion> points{{0, 10}, {0, 10}, {0, 10}, {10, 10}, {10, 10}};
  EXPECT_EQ(place_of_boundary(question, points).first_failing, 3U);
  EXPECT_EQ(point_to_try(question, points), 2U);
  std::vector<Proportion> settled = points;
  settled[2] = {0, 40};
  EXPECT_EQ(point_to_try(question, settled), std::nullopt);
  // A stray failure far below does not move the boundary.
  std::vector<Proportion> stray = points;
  stray[0] = {1, 10};
  EXPECT_EQ(place_of_boundary(question, stray).first_failing, 3U);
}

TEST(BoundarySearch, GivesUpACellBetweenBothRates) {
  const RateQuestion question = settling_question(0.1);
  const int most = most_trials_to_settle(question);
  EXPECT_EQ(most, 5 * 32);  // 0.99/0.9 to the 32nd is 21
  EXPECT_TRUE(is_open(question, {6, most - 1}));
  EXPECT_FALSE(is_open(question, {6, most}));
}

}  // namespace
}  // namespace mpsprobe
