#include "reports/claims/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harness/statistics/anytime.h"
#include "reports/sample_journal_for_tests.h"
#include "reports/words/report_words.h"

namespace mpsprobe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Answer answer_of(const SampleJournal& sample) {
  return analyse(sample.journal).answer;
}

TEST(Answer, SaysFromHowManyThreadsAndWhatHelps) {
  SampleJournal sample;
  sample.operations_per_second = 1000;
  for (const char* threads : {"1", "2"}) {
    sample.plan(std::string("sim/mlp/default/iterations=50/threads=") + threads).ran(10);
  }
  sample.plan("sim/mlp/default/threads=3/iterations=50").ran(10, 10);
  sample.plan("sim/mlp/default/threads=8/iterations=50").ran(10, 9);
  sample.operations_per_second = 510;
  for (const char* threads : {"2", "3", "8"}) {
    sample.plan(std::string("sim/mlp/default/iterations=50/lock=forward/threads=") + threads)
        .ran(10);
  }
  sample.plan("sim/mlp/default/threads=1/processes=4/iterations=50").ran(10);
  const Answer answer = answer_of(sample);
  EXPECT_EQ(answer.code, "fails");
  EXPECT_THAT(
      answer.sentences,
      ElementsAre(
          "LibTorch 2.15.0+cpu: mlp, 3 threads: of 10 trials 10 crashes; 2 of 8 cells fail.",
          "No failure up to 2 threads, and in 6 of 8 cells (0 of 60); all below 44% (95%).",
          "With a lock none failed: mlp, 3 threads: 0 of 10, without it 10 of 10 (p < 0.001).",
          "With a lock at 2 threads it does 0.51 to 0.51 times the operations per second of "
          "lock=none (95% confidence)."));
}

TEST(Answer, ALockThatLowersTheRateIsNotSaidToBeOfNoHelp) {
  SampleJournal sample;
  sample.plan("sim/mlp/default/threads=8").ran(59, 53);
  sample.plan("sim/mlp/default/threads=8/lock=forward").ran(59, 6);
  EXPECT_THAT(
      answer_of(sample).text,
      HasSubstr(" With a lock fewer fail: mlp, 8 threads: 6 of 59, without it 53 of 59 (p < "
                "0.001)."));
}

// No one of them shows it with so few trials.
TEST(Answer, TakesTogetherWhatALockDoesToSeveralKindsOfCell) {
  SampleJournal sample;
  for (const char* op : {"mm", "mlp", "linear", "sum"}) {
    const std::string cell = std::string("sim/") + op + "/default/threads=4";
    sample.plan(cell).ran(10, 4);
    sample.plan(cell + "/lock=forward").ran(10);
  }
  EXPECT_THAT(answer_of(sample).text,
              HasSubstr(" With a lock, over 4 comparisons together: no failure (0 of 40 failed, "
                        "without it 16 of 40, p < 0.001). "));
  // One that fails more often with it is not hidden by the others.
  sample.plan("sim/add/default/threads=4").ran(10);
  sample.plan("sim/add/default/threads=4/lock=forward").ran(10, 10);
  EXPECT_THAT(answer_of(sample).text,
              HasSubstr("With a lock more fail in 1 of 5 kinds: add, 4 threads: 10 of 10, "
                        "without it 0 of 10"));
  EXPECT_THAT(answer_of(sample).text, testing::Not(HasSubstr("together")));
}

TEST(Answer, SaysWhatWasSeenWhereNothingFailed) {
  SampleJournal sample;
  sample.plan("cpu/add/default/threads=1").ran(10);
  sample.plan("cpu/add/default/threads=8").ran(10);
  EXPECT_EQ(answer_of(sample).text,
            "LibTorch 2.15.0+cpu: no failure in all 2 cells (0 of 20); all below 36% (95%).");
  EXPECT_EQ(answer_of(sample).code, "no_failure");
}

TEST(Answer, SaysBelowWhichRateItDoesNotFailWhereThatWasAsked) {
  SampleJournal sample;
  sample.journal.header.settle_rate = 0.1;
  sample.plan("mps/mlp/default/threads=1").ran(10);
  sample.plan("mps/mlp/default/threads=8").ran(40);
  sample.plan("mps/mlp/default/processes=4").ran(50);
  const auto below = [](int trials) {
    return static_cast<int>(std::ceil(anytime_interval(0, trials, 3).high * 100));
  };
  EXPECT_EQ(answer_of(sample).text,
            "LibTorch 2.15.0+cpu: no failure in all 3 cells (0 of 100); all below " +
                std::to_string(below(10)) +
                "% (95%). Where 10% of trials or more begin to fail is settled for 2 of 2 "
                "boundaries: nowhere, if failures go on with more threads.");
  sample.plan("mps/mlp/default/threads=3").ran(10, 10);
  EXPECT_THAT(answer_of(sample).text, Not(HasSubstr("nowhere")));
}

TEST(Answer, OfASettledRunIsTheSettledPlaceAndNotTheFirstFailure) {
  SampleJournal sample;
  sample.journal.header.settle_rate = 0.05;
  for (int threads = 1; threads <= 4; ++threads) {
    sample.plan("mps/mlp/default/threads=" + std::to_string(threads)).ran(120, threads == 2);
  }
  sample.plan("mps/mlp/default/threads=5").ran(40, 6);
  sample.plan("mps/mlp/default/threads=8").ran(40, 12);
  const Analysis analysis = analyse(sample.journal);
  ASSERT_EQ(analysis.boundaries.size(), 1u);
  const Boundary& boundary = analysis.boundaries[0];
  ASSERT_TRUE(boundary.settled && boundary.settled->settled);
  EXPECT_EQ(boundary.settled->from, 5);
  EXPECT_EQ(boundary.most_passing->count, 4);
  EXPECT_EQ(boundary.fewest_failing->failures, 6);
  EXPECT_THAT(
      analysis.answer.text,
      StartsWith("LibTorch 2.15.0+cpu: mlp, 8 threads: of 40 trials 12 crashes; 3 of 6 cells fail. "
                 "LibTorch 2.15.0+cpu, fewest: mlp, 5 threads (6 of 40). No failure with 1 thread, "
                 "and in 3 of 6 cells"));
  EXPECT_EQ(analysis.answer.code, "fails");
}

TEST(Answer, ARateThatIsReachedNowhereIsSaidToBeReachedNowhere) {
  SampleJournal sample;
  sample.journal.header.settle_rate = 0.05;
  for (int threads = 1; threads <= 4; ++threads) {
    sample.plan("mps/mlp/default/threads=" + std::to_string(threads)).ran(200, threads == 3);
  }
  const Analysis analysis = analyse(sample.journal);
  EXPECT_FALSE(analysis.boundaries[0].settled->from);
  EXPECT_THAT(analysis.answer.table.rows[0].fields[0],
              StartsWith("nowhere reaches 5%; 1 crash in 200 at 3; none at 1, 2, 4"));
  EXPECT_THAT(analysis.answer.text,
              StartsWith("LibTorch 2.15.0+cpu: mlp, 3 threads: of 200 trials 1 crash; 1 of 4 cells "
                         "fails."));
  EXPECT_THAT(analysis.answer.text, HasSubstr("settled for 1 of 1 boundary: nowhere, if"));
  EXPECT_EQ(analysis.answer.code, "no_failure");
}

TEST(Answer, NoFailureWithoutOverlapIsSaidToShowLittle) {
  SampleJournal sample;
  sample.overlap = false;
  sample.plan("cpu/add/default/threads=8").ran(10);
  EXPECT_THAT(answer_of(sample).text, HasSubstr("where threads never met in any"));
}

TEST(Answer, CountsWhatCameOutAsExpected) {
  SampleJournal sample;
  const Expectation fails{Verdict::fail, std::nullopt, ""};
  sample.plan("sim/mm/default/threads=2").expect(fails).ran(10, 10);
  sample.plan("sim/mm/default/threads=3").expect(fails).ran(10, 10);
  EXPECT_EQ(answer_of(sample).code, "as_expected");
  EXPECT_THAT(answer_of(sample).text, StartsWith("2 of 2 as expected. "));
  sample.plan("sim/mm/default/threads=4").expect(fails).ran(10);
  EXPECT_EQ(answer_of(sample).code, "unexpected");
  EXPECT_THAT(
      answer_of(sample).text,
      StartsWith(
          "2 of 3 as expected, 1 not: sim/mm/default/threads=4 is pass (0 of 10) and not fail. "));
}

TEST(Answer, CountsWhatWasNotTestedForNothing) {
  SampleJournal sample;
  const Expectation passes{Verdict::pass, std::nullopt, ""};
  sample.plan("sim/mm/default/threads=2").expect(passes).ran(10);
  sample.plan("sim/mm/default/threads=3").expect(passes);
  EXPECT_THAT(answer_of(sample).text, StartsWith("1 of 2 as expected, 1 not tested. "));
}

// What it lets through is not all that it was asked.
TEST(Answer, RefusedTrialsOfALockAreSaidAndInNoDenominator) {
  SampleJournal sample;
  sample.plan("mlx/lazy/default/threads=4").ran(20, 19);
  sample.plan("mlx/lazy/default/threads=4/lock=forward").ran(6).came_to(14, Outcome::refused);
  EXPECT_THAT(answer_of(sample).text,
              HasSubstr("With a lock none failed: lazy, 4 threads: 0 of 6 (14 refused), without it "
                        "19 of 20 (p < 0.001)."));
}

TEST(Answer, ALockThatHelpsAtOneCountAndHarmsAtAnotherIsSaidByBothCounts) {
  SampleJournal sample;
  sample.plan("mps/mlp/default/threads=2").ran(20, 18);
  sample.plan("mps/mlp/default/threads=2/lock=forward").ran(20, 2);
  sample.plan("mps/mlp/default/threads=8").ran(20, 2);
  sample.plan("mps/mlp/default/threads=8/lock=forward").ran(20, 18);
  const Analysis analysis = analyse(sample.journal);
  EXPECT_EQ(analysis.rate_claims.front().effect, RateEffect::opposite);
  EXPECT_THAT(analysis.answer.text,
              HasSubstr("With a lock both fewer and more fail: mlp, 2 threads: 2 "
                        "of 20, without it 18 of 20. With a lock more failed in mlp, 8 threads: 18 "
                        "of 20, without it 2 of 20."));
}

TEST(Answer, NoneFailedIsNotSaidWhereALockedCellDidWithoutACounterpart) {
  SampleJournal sample;
  sample.plan("mps/mlp/default/threads=3").ran(10, 10);
  sample.plan("mps/mlp/default/threads=3/lock=forward").ran(10);
  sample.plan("mps/mlp/default/threads=4").came_to(10, Outcome::refused);
  sample.plan("mps/mlp/default/threads=4/lock=forward").ran(10, 1);
  EXPECT_THAT(answer_of(sample).text, HasSubstr("With a lock fewer fail: mlp, 3 threads: 0 of 10"));
}

// It is 10 pairs of each operation that does not fail.
TEST(Answer, ThePriceOfALockIsAlsoThatWhereNothingFailed) {
  SampleJournal sample;
  sample.plan("mps/mlp/default/threads=4").ran(10, 10);
  sample.plan("mps/mlp/default/threads=4/lock=forward").ran(10);
  for (const char* op : {"mm", "add"}) {
    const std::string cell = std::string("mps/") + op + "/default/threads=4";
    sample.operations_per_second = 1000;
    sample.plan(cell).ran(10);
    sample.operations_per_second = 500;
    sample.plan(cell + "/lock=forward").ran(10);
  }
  EXPECT_THAT(answer_of(sample).text,
              HasSubstr("With a lock over 2 kinds of cell it does 0.50 to 0.50 times"));
}

TEST(Answer, SaysWhyTwoBuildsCannotBeToldApart) {
  SampleJournal sample;
  sample.journal.header.workers.push_back({"old", "/opt/old/worker", {}});
  sample.plan("cpu/raw/default/threads=2").ran(20);
  sample.ran(20, 14, SampleJournal::segfault(), "old");
  EXPECT_THAT(answer_of(sample).text,
              HasSubstr("old and stock: nothing can be told: both workers loaded the same library. "
                        "Seen at raw, 2 threads: 14 of 20, stock 0 of 20 (below 17%)."));
}

TEST(Answer, SaysWhatDiffersBetweenBuilds) {
  SampleJournal sample;
  sample.journal.header.workers.push_back({"old", "/opt/old/worker", {}});
  for (const auto& [threads, failures] : {std::pair("1", 0), {"2", 9}, {"4", 10}}) {
    sample.plan(std::string("cpu/raw/default/threads=") + threads);
    sample.provenance = "build-b";
    sample.ran(10, failures, SampleJournal::segfault(), "old");
    sample.provenance = "build-a";
    sample.ran(10);
  }
  const Answer answer = answer_of(sample);
  EXPECT_EQ(answer.code, "differs");
  EXPECT_THAT(
      answer.sentences,
      ElementsAre("stock (LibTorch 2.15.0+cpu): no failure in all 3 cells (0 of 30); all below 43% "
                  "(95%).",
                  "old (LibTorch 2.9.1a0): raw, 4 threads: of 10 trials 10 crashes; 2 of 3 cells "
                  "fail.",
                  "old (LibTorch 2.9.1a0), fewest: raw, 2 threads (9 of 10).",
                  "old: no failure with 1 thread, and in 1 of 3 cells (0 of 10); below 43% (95%).",
                  "stock (newer) fails less often than old in 2 of 3 cells: raw, 4 threads: 0 of "
                  "10 (below 39%), old 10 of 10 (p < 0.05)."));
}

TEST(Answer, NamesTheCellWhereSeveralKindsRan) {
  SampleJournal sample;
  sample.plan("sim/mm/default/threads=2/iterations=30").ran(10);
  sample.plan("sim/linear/nograph/threads=1/iterations=30").ran(10, 7);
  EXPECT_EQ(answer_of(sample).text,
            "LibTorch 2.15.0+cpu: linear nograph, 1 thread: of 10 trials 7 crashes; 1 of 2 cells "
            "fails. No failure in 1 of 2 cells (0 of 10); below 36% (95%).");
}

TEST(Answer, SaysThatAllCrashesCameAfterTheWork) {
  SampleJournal sample;
  Judgement at_the_end = SampleJournal::segfault();
  at_the_end.phase = Phase::finalise;
  sample.plan("mlx/raw/default/threads=1").ran(10, 2, at_the_end);
  EXPECT_THAT(answer_of(sample).text,
              HasSubstr("raw, 1 thread: of 10 trials 2 crashes at the interpreter's end."));
  sample.ran(1, 1).last().trial = 10;
  EXPECT_THAT(answer_of(sample).text, HasSubstr("of 11 trials 3 crashes."));
}

TEST(Answer, SaysWhatALibraryRefuses) {
  SampleJournal sample;
  const auto refuse = [&sample](int trials) {
    sample.came_to(trials, Outcome::refused);
    for (TrialRecord& trial : sample.journal.trials) {
      if (trial.judgement.outcome == Outcome::refused) {
        trial.judgement.detail = "arrays and streams of another thread";
      }
    }
  };
  sample.plan("mlx/chain/default/threads=2");
  refuse(10);
  EXPECT_EQ(answer_of(sample).code, "refused");
  EXPECT_THAT(answer_of(sample).text,
              HasSubstr("refuses arrays and streams of another thread (10 trials in 1 cell)."));
  sample.plan("mlx/chain/default/threads=1").ran(10);
  EXPECT_EQ(
      answer_of(sample).text,
      "LibTorch 2.15.0+cpu: refuses arrays and streams of another thread (10 trials in 1 cell). "
      "No failure in 1 cell (0 of 10); below 31% (95%).");
}

TEST(Answer, NoEvidenceIsNoAnswer) {
  SampleJournal sample;
  sample.plan("mps/mm/default/threads=2").came_to(3, Outcome::unsupported);
  EXPECT_EQ(answer_of(sample).code, "no_evidence");
}

}  // namespace
}  // namespace mpsprobe
