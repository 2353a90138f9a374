#include "reproducers/minimise/minimise.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/statistics/fixed_size_for_tests.h"
#include "harness/test_series.h"
#include "reproducers/minimise/planted_for_tests.h"

namespace mpsprobe {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;

MinimiseRequest request_for(const Planted& profile) {
  MinimiseRequest request;
  request.start = profile.start;
  request.signature = profile.signature;
  request.operations = planted_operations();
  return request;
}

const Planted& profile_named(const std::string& name) {
  for (const Planted& profile : planted_profiles()) {
    if (profile.name == name) return profile;
  }
  throw std::invalid_argument(name);
}

Minimum minimise_planted(const std::string& name, uint64_t seed = 1) {
  const Planted& profile = profile_named(name);
  return minimise(request_for(profile), PlantedTrials(profile, seed));
}

/// How often the tables of conditions are right.
struct TablesOfConditions {
  Proportion necessary;  ///< of conditions without which nothing fails, those that are called so
  Proportion halved;     ///< of the changes that halve the rate, those that are seen
  int wrong = 0;         ///< that call necessary without which it fails as well

  void count(const Planted& profile, const Minimum& minimum) {
    bool any_wrong = false;
    const double rate = true_rate(profile, minimum.cell);
    for (const Condition& condition : minimum.conditions) {
      if (!condition.skipped.empty()) continue;
      const double without = true_rate(profile, condition.cell);
      if (without <= 0) {
        ++necessary.trials;
        necessary.failures += condition.necessary() ? 1 : 0;
        continue;
      }
      any_wrong = any_wrong || condition.necessary();
      if (without > rate * 0.6) continue;
      ++halved.trials;
      halved.failures += condition.rarer ? 1 : 0;
    }
    wrong += any_wrong ? 1 : 0;
  }
};

class PlantedDefect : public testing::TestWithParam<size_t> {};

TEST_P(PlantedDefect, IsReducedToItsMinimumIn95Of100RunsAndNeverToAnotherBug) {
  const Planted& profile = planted_profiles()[GetParam()];
  ASSERT_GT(true_rate(profile, profile.minimum), 0);
  const int runs = worlds(series(100, 20));
  TablesOfConditions tables;
  int found = 0;
  int trials = 0;
  for (int seed = 1; seed <= runs; ++seed) {
    const Minimum minimum =
        minimise(request_for(profile), PlantedTrials(profile, static_cast<uint64_t>(seed)));
    tables.count(profile, minimum);
    EXPECT_EQ(minimum.signature, profile.signature);
    EXPECT_GT(true_rate(profile, minimum.cell), 0) << to_string(minimum.cell);
    found += minimum.state == MinimumState::complete && minimum.cell == profile.minimum;
    trials += minimum.trials.baseline + minimum.trials.steps;
  }
  EXPECT_GE(found, runs * 95 / 100) << profile.name;
  EXPECT_GE(tables.necessary.failures, tables.necessary.trials * 95 / 100) << profile.name;
  EXPECT_LE(tables.wrong, runs / 50) << profile.name;
  // At most twice the questions of a plain bisection with an oracle, where each is one trial; for a
  // rarer defect, where each is the test of a fixed size with the same errors.
  const double rate = true_rate(profile, profile.start);
  RateQuestion question;
  question.often_rate = rate * (3 + rate) / 4;
  question.seldom_rate = question.often_rate / 10;
  const int each = rate == 1 ? 1 : fixed_size(question);
  const double mean = trials / static_cast<double>(runs);
  EXPECT_LE(mean, 2.0 * plain_bisection(profile).repeated * each) << profile.name;
  measured(fmt::format(
      "{}: found {} of {} in {:.1f} trials, {:.2f} of a plain bisection's; necessary {} of {}, "
      "halved {} of {}, wrong tables {}",
      profile.name, found, runs, mean, mean / (plain_bisection(profile).repeated * each),
      tables.necessary.failures, tables.necessary.trials, tables.halved.failures,
      tables.halved.trials, tables.wrong));
}

INSTANTIATE_TEST_SUITE_P(Profiles, PlantedDefect,
                         testing::Range<size_t>(0, planted_profiles().size()),
                         [](const testing::TestParamInfo<size_t>& info) {
                           std::string name = planted_profiles()[info.param].name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Minimise, ThereAreAtLeastTwelveProfiles) {
  EXPECT_GE(planted_profiles().size(), 12u);
}

TEST(Minimise, WithoutASignatureKeepsTheOneThatTheStartCellShowsMostOften) {
  const Planted& profile = profile_named("two-bugs");
  int crashes = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    MinimiseRequest request = request_for(profile);
    request.signature = "";
    const Minimum minimum = minimise(request, PlantedTrials(profile, seed));
    ASSERT_EQ(minimum.state, MinimumState::complete);
    const bool crash = minimum.signature == profile.signature;
    crashes += crash;
    EXPECT_EQ(minimum.cell.threads, crash ? 3 : 5) << minimum.signature;
  }
  EXPECT_GT(crashes, 5);
  EXPECT_LT(crashes, 45);
}

TEST(Minimise, TheTableSaysWhichConditionsAreNecessary) {
  const Minimum minimum = minimise_planted("warm-only");
  const auto row = [](const char* change, bool rarer) {
    return Contains(AllOf(Field(&Condition::change, change), Field(&Condition::rarer, rarer)));
  };
  EXPECT_THAT(minimum.conditions, row("threads 2 -> 1", true));
  EXPECT_THAT(minimum.conditions, row("warmup main -> none", true));
  EXPECT_THAT(minimum.conditions, row("lock none -> forward", false));
  EXPECT_EQ(minimum.reliability.failures, minimum.reliability.trials);
  EXPECT_EQ(expected_runs(minimum.reliability), 1);
}

TEST(Minimise, SaysWhereTheLimitIsTooSmallToSeeADropByHalf) {
  EXPECT_EQ(minimise_planted("threads").condition_trials_missing, 0);  // it fails always
  const int missing = minimise_planted("three-in-ten").condition_trials_missing;
  EXPECT_GT(missing, 200);
  MinimiseRequest request = request_for(profile_named("three-in-ten"));
  request.most_condition_trials = 2000;
  const Minimum longer = minimise(request, PlantedTrials(profile_named("three-in-ten"), 1));
  EXPECT_EQ(longer.condition_trials_missing, 0);
  EXPECT_GE(longer.reliability.trials, missing);
}

TEST(Minimise, TellsOfTheOtherSignaturesThatItMet) {
  const Minimum minimum = minimise_planted("another-below");
  ASSERT_EQ(minimum.cell, profile_named("another-below").minimum);
  EXPECT_THAT(minimum.steps,
              Contains(AllOf(Field(&Reduction::result, StepResult::dropped),
                             Field(&Reduction::tally,
                                   AllOf(Field(&Tally::failures, 0), Field(&Tally::other, 2))))));
}

TEST(Minimise, AStartCellThatPassesIsNotReduced) {
  MinimiseRequest request = request_for(profile_named("threads"));
  request.start.threads = 2;
  const Minimum minimum = minimise(request, PlantedTrials(profile_named("threads"), 1));
  EXPECT_EQ(minimum.state, MinimumState::not_failing);
  EXPECT_EQ(minimum.baseline.trials, 59);
  EXPECT_THAT(minimum.note, HasSubstr("0 of 59 failed"));
  EXPECT_THAT(minimum.note, HasSubstr("--patience 246"));
  EXPECT_TRUE(minimum.steps.empty());
}

TEST(Minimise, TrialsThatAreNoEvidenceAreRepeatedAFewTimesAndNeverCounted) {
  const Planted& profile = profile_named("threads");
  PlantedTrials trials(profile, 1);
  int run = 0;
  const Minimum flaky = minimise(request_for(profile), [&](const Cell& cell, int index) {
    if (++run % 3 == 0) return std::optional(TrialResult{Outcome::infrastructure, ""});
    return trials(cell, index);
  });
  EXPECT_EQ(flaky.cell, profile.minimum);
  EXPECT_GT(flaky.baseline.no_evidence, 0);
  EXPECT_EQ(flaky.baseline.trials, 5);

  int asked = 0;
  const Minimum never = minimise(request_for(profile), [&](const Cell&, int) {
    ++asked;
    return std::optional(TrialResult{Outcome::setup_failed, ""});
  });
  EXPECT_EQ(never.state, MinimumState::not_run);
  EXPECT_EQ(asked, 5);
}

TEST(Minimise, CellsThatMakeNoSenseAreSkippedAndSaidSo) {
  const Minimum minimum = minimise_planted("sync-end");
  EXPECT_THAT(
      minimum.steps,
      Contains(AllOf(Field(&Reduction::result, StepResult::skipped),
                     Field(&Reduction::reason, "with one iteration, each and end are the same"))));
}

TEST(Minimise, WhatDoesNotHoldWhenItIsVerifiedIsTakenBack) {
  const Planted& profile = profile_named("threads");
  // The crash strikes one thread twice, when it is asked for, and never again.
  const Minimum minimum = minimise(request_for(profile), [&](const Cell& cell, int index) {
    const bool lucky = cell.threads < 3 && cell.churn == 1 && index < 2;
    const bool fails = lucky || cell.threads >= 3;
    return std::optional(fails ? TrialResult{Outcome::signal, profile.signature}
                               : TrialResult{Outcome::pass, ""});
  });
  EXPECT_EQ(minimum.cell, profile.minimum);
  EXPECT_THAT(minimum.steps, Contains(Field(&Reduction::result, StepResult::undone)));
}

TEST(Minimise, AConditionThatTheTableShowsToBeNotNeededIsDropped) {
  const Planted& profile = profile_named("threads");
  // Two threads pass when they are asked for first, and fail afterwards.
  const Minimum minimum = minimise(request_for(profile), [&](const Cell& cell, int index) {
    const bool fails = cell.threads >= 3 || (cell.threads == 2 && index >= 2);
    return std::optional(fails ? TrialResult{Outcome::signal, profile.signature}
                               : TrialResult{Outcome::pass, ""});
  });
  EXPECT_EQ(minimum.cell.threads, 2);
}

TEST(Minimise, EndsAtOnceWhenItIsToldToAndKeepsTheSimplestSoFar) {
  const Planted& profile = profile_named("threads");
  PlantedTrials trials(profile, 1);
  int left = 9;
  const Minimum minimum = minimise(request_for(profile), [&](const Cell& cell, int index) {
    return left-- > 0 ? trials(cell, index) : std::nullopt;
  });
  EXPECT_EQ(minimum.state, MinimumState::stopped);
  EXPECT_EQ(minimum.cell.churn, 1);  // the first step was kept
  EXPECT_EQ(minimum.trials.baseline + minimum.trials.steps, 9);
}

// Resuming is this: the recorded trials again, then new ones.
TEST(Minimise, FollowsFromTheResultsAlone) {
  const Planted& profile = profile_named("four-in-ten");
  std::map<std::pair<std::string, int>, TrialResult> recorded;
  PlantedTrials trials(profile, 7);
  const Minimum first = minimise(request_for(profile), [&](const Cell& cell, int index) {
    const auto result = trials(cell, index);
    EXPECT_TRUE(recorded.emplace(std::pair(to_string(cell), index), *result).second);
    return result;
  });
  size_t used = 0;
  const Minimum again = minimise(request_for(profile), [&](const Cell& cell, int index) {
    ++used;
    return std::optional(recorded.at({to_string(cell), index}));
  });
  EXPECT_EQ(used, recorded.size());
  EXPECT_EQ(to_json(again).dump(), to_json(first).dump());
}

}  // namespace
}  // namespace mpsprobe
