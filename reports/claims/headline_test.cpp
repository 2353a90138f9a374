#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/claims/answer.h"
#include "reports/sample_journal_for_tests.h"

namespace mpsprobe {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> sentences_of(const SampleJournal& sample) {
  return analyse(sample.journal).answer.sentences;
}

TEST(Headline, ThreadsAreNotHiddenBehindProcesses) {
  SampleJournal sample;
  sample.plan("mps/mlp/default/threads=1").ran(30);
  sample.plan("mps/mlp/default/threads=2").ran(30, 29);
  sample.plan("mps/mlp/default/processes=4").ran(30, 5);
  EXPECT_THAT(sentences_of(sample).front(),
              HasSubstr("mlp, 2 threads: of 30 trials 29 crashes; 2 of 3 cells fail."));
  EXPECT_EQ(sentences_of(sample)[1], "LibTorch 2.15.0+cpu, also mlp, 4 processes (5 of 30).");
}

TEST(Headline, ThreadsThatAreSafeInOneProcessAreSoThereAlone) {
  SampleJournal sample;
  sample.plan("mps/mlp/default/threads=1").ran(30);
  sample.plan("mps/mlp/default/threads=1/processes=2").ran(30, 5);
  EXPECT_THAT(sentences_of(sample),
              Contains(HasSubstr("No failure with 1 thread in one process, and in 1 of 2 cells")));
}

TEST(Headline, NamesTheFewestThatFailAlsoWithALock) {
  SampleJournal sample;
  sample.plan("mps/mlp/default/threads=2").ran(20);
  sample.plan("mps/mlp/default/threads=2/lock=forward").ran(20, 11);
  sample.plan("mps/mlp/default/threads=4").ran(20, 20);
  EXPECT_THAT(sentences_of(sample),
              Contains("LibTorch 2.15.0+cpu, fewest: mlp, lock=forward, 2 threads (11 of 20)."));
  SampleJournal wide;
  wide.plan("mps/transformer_layer/default/threads=2/stream=per-thread").ran(20, 3);
  wide.plan("mps/transformer_layer/default/threads=4/stream=per-thread/warmup=main").ran(20, 20);
  wide.plan("mps/mlp/default/threads=8").ran(20);
  EXPECT_THAT(sentences_of(wide), Contains("LibTorch 2.15.0+cpu, fewest: transformer_layer, "
                                           "stream=per-thread, 2 threads (3 of 20)."));
}

TEST(Headline, OneCellIsNotPooledAwayBelowASettledRate) {
  SampleJournal sample;
  sample.journal.header.settle_rate = 0.1;
  for (int threads = 1; threads <= 8; ++threads) {
    sample.plan("mps/mlp/default/threads=" + std::to_string(threads)).ran(30, threads == 3 ? 9 : 0);
  }
  const std::vector<std::string> sentences = sentences_of(sample);
  EXPECT_THAT(sentences[0],
              HasSubstr("mlp, 3 threads: of 30 trials 9 crashes; 1 of 8 cells fails"));
  EXPECT_THAT(sentences[3],
              HasSubstr("That failures go on with more threads is broken: mlp, 3 threads: 9 of 30, "
                        "0 of 30 at 4, 0 of 30 at 5"));
}

TEST(Headline, NamesEachKindOfFailureOfTheWorstCellAndWhatWasRefused) {
  SampleJournal sample;
  Judgement wrong{Outcome::wrong_result, "", "wrong result: lazy"};
  sample.plan("mlx/lazy/default/threads=4").ran(6, 6, wrong);
  sample.ran(1, 1).last().trial = 6;
  sample.came_to(3, Outcome::refused);
  const Analysis analysis = analyse(sample.journal);
  EXPECT_THAT(analysis.answer.sentences.front(),
              HasSubstr("lazy, 4 threads: of 10 trials 1 crash, 6 wrong numbers, 3 refused."));
  EXPECT_EQ(analysis.answer.lines.front().worst, "1 crash");
}

TEST(Headline, SaysOfAWrongResultWhatSawIt) {
  const auto said = [](const char* cell, const char* variable) {
    SampleJournal sample;
    sample.journal.header.environment = {variable};
    sample.plan(cell).ran(1, 1, {Outcome::wrong_result, "", "wrong result: test_it"});
    return analyse(sample.journal).answer.sentences.front();
  };
  EXPECT_THAT(said("cpu/test_it/default/threads=1", "MPSPROBE_PYTEST=/x/test_a.py"),
              HasSubstr("of 1 trial 1 failed assertion"));
  EXPECT_THAT(said("command/pl/default/threads=1", "MPSPROBE_COMMAND={}"),
              HasSubstr("of 1 trial 1 wrong output"));
  EXPECT_THAT(said("cpu/linear/default/threads=1", "A=b"), HasSubstr("of 1 trial 1 wrong number"));
}

TEST(Headline, ABoundIsOverAllCellsThatWereTested) {
  SampleJournal sample;
  for (int i = 1; i <= 64; ++i) {
    sample.plan("mps/mlp/default/threads=2/iterations=" + std::to_string(i)).ran(10, i > 1 ? 4 : 0);
  }
  EXPECT_THAT(sentences_of(sample)[1], HasSubstr("in 1 of 64 cells (0 of 10); below 55% (95%)"));
}

TEST(Headline, SaysWhetherTheMainThreadFailsByItself) {
  SampleJournal sample;
  sample.plan("mlx/add/default/threads=1").ran(20, 20);
  EXPECT_THAT(sentences_of(sample), Not(Contains(HasSubstr("main thread alone nothing"))));
  EXPECT_THAT(analyse(sample.journal).answer.next.front(), HasSubstr("the main thread alone"));
  sample.plan("mlx/add/default/threads=1/start=main").ran(20);
  EXPECT_THAT(sentences_of(sample),
              Contains("On the main thread alone nothing failed in 1 cell (0 of 20)."));
  EXPECT_THAT(analyse(sample.journal).answer.next.front(), Not(HasSubstr("the main thread")));
  sample.plan("mlx/mm/default/threads=1/start=main").ran(20, 3);
  EXPECT_THAT(sentences_of(sample),
              Contains("On the main thread alone too: mm, start=main, 1 thread (3 of 20)."));
}

TEST(Headline, ThreadsThatNeverMetAreSaid) {
  SampleJournal sample;
  sample.overlap = false;
  sample.plan("cpu/add/default/threads=8").ran(10);
  EXPECT_THAT(sentences_of(sample),
              ElementsAre(HasSubstr("no failure in 1 cell (0 of 10), where threads never met in "
                                    "any")));
}

}  // namespace
}  // namespace mpsprobe
