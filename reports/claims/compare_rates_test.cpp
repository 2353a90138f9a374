#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "harness/statistics/simulated_trials_for_tests.h"
#include "harness/statistics/stratified.h"
#include "harness/test_series.h"
#include "reports/claims/comparisons.h"
#include "reports/sample_journal_for_tests.h"
#include "reports/writers/forms.h"

namespace mpsprobe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<RateClaim> claims_of(const SampleJournal& sample) {
  return analyse(sample.journal).rate_claims;
}

TEST(RateClaims, SayWhatEachSettingWasShownToDo) {
  SampleJournal sample;
  sample.plan("mps/mm/default/threads=4").ran(59, 49);
  sample.plan("mps/mm/default/threads=4/lock=forward").ran(59, 7);
  sample.plan("mps/mm/default/threads=4/wait=stream").ran(59, 50);
  sample.plan("mps/mm/default/threads=4/env.A=1").ran(59, 0);
  sample.plan("mps/mm/default/threads=4/stream=per-thread").ran(59, 59);
  const std::vector<RateClaim> claims = claims_of(sample);
  ASSERT_THAT(claims, SizeIs(4));
  EXPECT_EQ(claims[0].effect, RateEffect::less_often);
  EXPECT_EQ(claims[0].with, "lock=forward");
  EXPECT_EQ(claims[1].effect, RateEffect::not_shown);
  EXPECT_EQ(claims[1].with, "wait=stream");
  EXPECT_EQ(claims[2].effect, RateEffect::more_often);
  EXPECT_EQ(claims[3].effect, RateEffect::no_failure);
  EXPECT_EQ(claims[3].with, "env.A=1");
  for (const RateClaim& claim : claims) EXPECT_EQ(claim.of, 4U);
}

TEST(RateClaims, CompareNothingButLikeWithLike) {
  SampleJournal sample;
  sample.plan("mps/mm/default/threads=4").ran(10, 10);
  sample.plan("mps/mm/default/threads=1/lock=forward").ran(10);
  sample.plan("mps/mm/default/threads=4/iterations=50/lock=forward").ran(10);
  sample.plan("mps/mm/default/threads=4/lock=forward/wait=stream").ran(10);
  sample.plan("mps/mm/default/threads=1/processes=2").ran(10);
  EXPECT_THAT(claims_of(sample), IsEmpty());
}

TEST(RateClaims, AddUpOverThreadCountsWhatNoneShowsAlone) {
  SampleJournal sample;
  for (const char* threads : {"2", "3", "4"}) {
    const std::string cell = std::string("mps/mm/default/threads=") + threads;
    sample.plan(cell).ran(10, 4);
    sample.plan(cell + "/lock=forward").ran(10);
  }
  const std::vector<RateClaim> claims = claims_of(sample);
  ASSERT_THAT(claims, SizeIs(1));
  EXPECT_EQ(claims[0].effect, RateEffect::no_failure);
  EXPECT_THAT(claims[0].cells_with, ElementsAre(1, 3, 5));
  EXPECT_GT(fisher_exact({4, 10}, {0, 10}), 0.05);
}

TEST(RateClaims, ASideThatCouldNotHaveFailedShowsNothing) {
  SampleJournal sample;
  sample.plan("mps/mm/default/threads=4").ran(10, 10);
  sample.overlap = false;
  sample.plan("mps/mm/default/threads=4/wait=stream").ran(10);
  const std::vector<RateClaim> claims = claims_of(sample);
  ASSERT_THAT(claims, SizeIs(1));
  EXPECT_EQ(claims[0].effect, RateEffect::cannot_compare);
}

TEST(RateClaims, NoPriceOfUnlikeCellsOrFromFewTrials) {
  SampleJournal sample;
  sample.plan("mps/mm/default/threads=1").ran(10);
  sample.plan("mps/mm/default/threads=4").ran(10, 10);
  sample.plan("mps/mm/default/threads=4/lock=forward").ran(10);
  ASSERT_THAT(claims_of(sample), SizeIs(1));
  EXPECT_FALSE(claims_of(sample)[0].price);
  EXPECT_THAT(
      report_markdown(analyse(sample.journal)),
      HasSubstr("| mm | lock=forward | 0 of 10 | lock=none | 10 of 10 | < 0.001 | no failure |"));
}

// Exact, over all results of two cells: how often a claim of either rate pair is false.
TEST(RateClaims, AreWrongInAtMostFivePercent) {
  for (const int n : {10, 30, 59}) {
    std::vector<std::vector<double>> chances(11, std::vector<double>(static_cast<size_t>(n) + 1));
    for (int rate = 0; rate <= 10; ++rate) {
      for (int k = 0; k <= n; ++k) {
        const double log_choose =
            std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0);
        chances[static_cast<size_t>(rate)][static_cast<size_t>(k)] =
            std::exp(log_choose) * std::pow(rate / 10.0, k) * std::pow(1 - rate / 10.0, n - k);
      }
    }
    // Of each pair of rates, with and without: the chance of "less often" and of "more often".
    double less[11][11] = {};
    double more[11][11] = {};
    for (int with = 0; with <= n; ++with) {
      for (int without = 0; without <= n; ++without) {
        const std::vector<Stratum> strata{{{with, n}, {without, n}}};
        if (stratified_exact(strata) >= 0.05) continue;
        const bool fewer = excess_failures(strata) < 0;
        for (size_t a = 0; a <= 10; ++a) {
          for (size_t b = 0; b <= 10; ++b) {
            (fewer ? less : more)[a][b] +=
                chances[a][static_cast<size_t>(with)] * chances[b][static_cast<size_t>(without)];
          }
        }
      }
    }
    for (int a = 0; a <= 10; ++a) {
      for (int b = 0; b <= 10; ++b) {
        const double wrong = (a >= b ? less[a][b] : 0) + (a <= b ? more[a][b] : 0);
        EXPECT_LE(wrong, 0.05) << a << "0% with, " << b << "0% without, n = " << n;
      }
    }
    EXPECT_GT(less[1][9], n == 10 ? 0.9 : 0.999);  // 90% lowered to 10% is seen
    measured(fmt::format("{} trials a cell: 90% lowered to 10% is seen in {:.1f}%, 50% in {:.1f}%",
                         n, 100 * less[1][9], 100 * less[1][5]));
  }
}

/// Six kinds of cell, each with a lock, in processes, and without: of the first `helped` kinds a
/// lock lowers the rate from 80% to 10%; nothing else changes anything.
struct SixKinds {
  int trials = 10;
  int helped = 0;
  int false_claims = 0;  ///< runs with one, among all that they compare
  int shown = 0;         ///< of the locks that help

  void run(SimulatedTrials& random) {
    SampleJournal sample;
    const auto cell = [&](const std::string& id, double rate) {
      sample.plan(id).ran(trials, random.tried(rate, trials).failures);
    };
    for (int kind = 1; kind <= 6; ++kind) {
      const double rate = kind <= helped ? 0.8 : 0.1 * kind + 0.2;
      const std::string id = fmt::format("cpu/mm/default/threads=4/iterations={}", kind);
      cell(id, rate);
      cell(id + "/lock=forward", kind <= helped ? 0.1 : rate);
      cell(fmt::format("cpu/mm/default/processes=4/iterations={}", kind), rate);
    }
    const Analysis analysis = analyse(sample.journal);
    bool wrong = helped == 0 && analysis.answer.text.find(" together: ") != std::string::npos;
    for (const RateClaim& claim : analysis.rate_claims) {
      EXPECT_GE(claim.of, 13U);  // six of each, and all locks together
      if (claim.effect == RateEffect::not_shown || claim.effect == RateEffect::cannot_compare) {
        continue;
      }
      const bool helps = claim.about == "lock" && helped > 0 &&
                         analysis.cells[claim.cells_with.front()].cell.iterations <= helped;
      wrong = wrong || !helps || claim.effect == RateEffect::more_often;
      shown += helps ? 1 : 0;
    }
    for (const RateClaim& claim : analysis.claims_together) {
      const bool said = claim.effect != RateEffect::not_shown;
      wrong = wrong || (said && (helped == 0 || claim.about != "lock"));
    }
    false_claims += wrong ? 1 : 0;
  }
};

#ifndef MPSPROBE_SANITIZED  // a minute, of what the other tests run as well
TEST(RateClaims, HoldOverAllThatARunCompares) {
  const int runs = worlds(200);
  for (SixKinds kinds : {SixKinds{10, 0}, SixKinds{10, 3}, SixKinds{30, 0}, SixKinds{30, 3}}) {
    if (kinds.trials == 30 && !all_worlds()) continue;
    SimulatedTrials random(38);
    for (int run = 0; run < runs; ++run) kinds.run(random);
    EXPECT_LE(kinds.false_claims, runs / 20) << kinds.helped;
    measured(
        fmt::format("{} trials, a lock helps {} of six kinds: {} of {} with a false claim, {} "
                    "of these shown",
                    kinds.trials, kinds.helped, kinds.false_claims, runs, kinds.shown));
  }
}
#endif

// The default path stands beside both paths: its trials are not more for that.
TEST(RateClaims, CountACellOnceThatSeveralCompare) {
  SampleJournal sample;
  sample.plan("mps/mm/nograph/threads=4").ran(10, 10);
  sample.plan("mps/mm/graph/threads=4").ran(10, 10);
  sample.plan("mps/mm/default/processes=4").ran(10);
  const Analysis analysis = analyse(sample.journal);
  ASSERT_THAT(analysis.rate_claims, SizeIs(2));
  EXPECT_TRUE(analysis.claims_together.empty());
  EXPECT_THAT(analysis.answer.text,
              HasSubstr("none failed in 2 of 2 kinds: mm nograph, 4 threads: 0 of 10, without "
                        "it 10 of 10"));
}

// 30% noise on each trial, and a lock that costs nothing, a fifth or half.
TEST(Prices, HoldTheTrueRatioInNinetyFivePercent) {
  SimulatedTrials trials(22);
  for (const double truth : {1.0, 0.8, 0.5}) {
    int held = 0;
    const int runs = worlds(series(300, 40));
    for (int run = 0; run < runs; ++run) {
      SampleJournal sample;
      const auto speed = [&](double ratio) {
        sample.operations_per_second = 1000 * ratio * std::exp(0.6 * (trials.uniform() - 0.5));
      };
      sample.plan("mps/mm/default/threads=4").ran(1, 1);
      for (int i = 1; i <= 10; ++i) {
        speed(1);
        sample.ran(1).last().trial = i;
      }
      sample.plan("mps/mm/default/threads=4/lock=forward");
      for (int i = 0; i <= 10; ++i) {
        speed(truth);
        sample.ran(1).last().trial = i;
      }
      const std::vector<RateClaim> claims = claims_of(sample);
      ASSERT_THAT(claims, SizeIs(1));
      ASSERT_TRUE(claims[0].price);
      EXPECT_EQ(claims[0].price->pairs, 10);
      held += claims[0].price->within.low <= truth && truth <= claims[0].price->within.high ? 1 : 0;
    }
    EXPECT_GE(held, runs * 95 / 100) << truth;
    measured(fmt::format("a price of {}: the interval holds it in {} of {}", truth, held, runs));
  }
}

}  // namespace
}  // namespace mpsprobe
