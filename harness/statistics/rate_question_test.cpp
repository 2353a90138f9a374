#include "harness/statistics/rate_question.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/statistics/fixed_size_for_tests.h"

namespace mpsprobe {
namespace {

/// The probability that the test says `often` of a true rate, and the trials that it takes on
/// average: exact, by going through all (failures, trials) that are reached.
struct Properties {
  double often = 0;
  double mean_trials = 0;
};
Properties properties(const RateQuestion& question, double rate) {
  Properties result;
  std::vector<double> reached{1};  // by failures, after n trials
  for (int n = 1; n <= question.most_trials; ++n) {
    std::vector<double> next(static_cast<size_t>(n) + 1, 0);
    for (size_t k = 0; k < reached.size(); ++k) {
      next[k] += reached[k] * (1 - rate);
      next[k + 1] += reached[k] * rate;
    }
    for (size_t k = 0; k < next.size(); ++k) {
      const Decision decision = decide(question, {static_cast<int>(k), n});
      if (decision == Decision::go_on) continue;
      if (decision == Decision::often) result.often += next[k];
      result.mean_trials += next[k] * n;
      next[k] = 0;
    }
    reached = next;
  }
  return result;
}

TEST(RateQuestion, ADeterministicDefectIsDecidedInTwoTrials) {
  const RateQuestion question = question_for({5, 5}, 300);
  EXPECT_EQ(decide(question, {1, 1}), Decision::go_on);  // one lucky run is none
  EXPECT_EQ(decide(question, {2, 2}), Decision::often);
  EXPECT_EQ(decide(question, {0, 1}), Decision::go_on);
  EXPECT_EQ(decide(question, {0, 2}), Decision::seldom);
}

TEST(RateQuestion, KeepsItsErrorRatesExactly) {
  for (const Proportion baseline : {Proportion{5, 5}, {9, 10}, {8, 20}, {8, 80}, {8, 200}}) {
    const RateQuestion question = question_for(baseline, 2000);
    EXPECT_LE(properties(question, question.seldom_rate).often, question.false_often)
        << baseline.failures << "/" << baseline.trials;
    EXPECT_GE(properties(question, question.often_rate).often, 1 - question.false_seldom)
        << baseline.failures << "/" << baseline.trials;
  }
}

TEST(RateQuestion, ADefectOfOneInTenTakesSomeTens) {
  const RateQuestion question = question_for({8, 80}, 300);
  EXPECT_LT(properties(question, 0.1).mean_trials, 30);
  EXPECT_LT(properties(question, 0).mean_trials, 70);
  EXPECT_LT(properties(question, 0.1).mean_trials, fixed_size(question) / 2.0);
}

TEST(RateQuestion, AtItsLimitAnOpenQuestionIsNotKept) {
  RateQuestion question = question_for({8, 80}, 10);
  EXPECT_EQ(decide(question, {1, 9}), Decision::go_on);
  EXPECT_EQ(decide(question, {1, 10}), Decision::seldom);
}

TEST(RateQuestion, TheTestOfAFixedSizeIsTheSmallestThatKeepsBothErrors) {
  // By hand: two trials, at least one failure: 1 - 0.99^2 = 0.0199 and 0.1^2 = 0.01.
  EXPECT_EQ(fixed_size({.seldom_rate = 0.01, .often_rate = 0.9}), 2);
  // One trial suffices where both errors are those of a single one.
  EXPECT_EQ(fixed_size({.seldom_rate = 0.02, .often_rate = 0.98}), 1);
}

}  // namespace
}  // namespace mpsprobe
