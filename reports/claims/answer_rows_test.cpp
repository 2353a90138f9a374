#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "reports/claims/answer.h"
#include "reports/sample_journal_for_tests.h"

namespace mpsprobe {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

AnswerTable table_of(const SampleJournal& sample) {
  return analyse(sample.journal).answer.table;
}

TEST(AnswerRows, SayInWordsHowEachKindOfCellCameOut) {
  SampleJournal sample;
  sample.plan("mlx/mm/default/threads=1").ran(10);
  sample.plan("mlx/mm/default/threads=4").ran(10);
  sample.plan("mlx/chain/default/threads=1").ran(10);
  sample.plan("mlx/chain/default/threads=2").ran(10, 7);
  sample.plan("mlx/chain/default/threads=4").ran(10, 10, SampleJournal::hang());
  sample.plan("mlx/lazy/default/threads=1").ran(10);
  sample.plan("mlx/lazy/default/threads=2").came_to(10, Outcome::refused);
  sample.plan("mlx/raw/default/threads=1").came_to(10, Outcome::refused);
  sample.plan("mlx/raw/default/threads=2");
  const AnswerTable table = table_of(sample);
  ASSERT_THAT(table.rows, SizeIs(4));
  EXPECT_EQ(table.rows[0].cells, "chain");
  EXPECT_THAT(table.rows[0].fields,
              ElementsAre("10 hangs in 10 at 4; 7 crashes in 10 at 2; none at 1 (0/10 < 31%)"));
  EXPECT_THAT(table.rows[1].fields, ElementsAre("no failure at 1 (0/10 < 31%); refused at 2"));
  EXPECT_THAT(table.rows[2].fields, ElementsAre("refused at 1; not tested at 2"));
  EXPECT_EQ(table.rows[3].cells, "mm");
  EXPECT_THAT(table.rows[3].fields,
              ElementsAre("no failure at 1, 4 (0/20, each < 31%), 4 at once"));
}

TEST(AnswerRows, KindsThatCameOutAlikeInEveryCellShareARow) {
  SampleJournal sample;
  for (const char* op : {"add", "mul", "mm", "relu"}) {
    sample.plan(std::string("cpu/") + op + "/default/threads=1").ran(10);
    sample.plan(std::string("cpu/") + op + "/default/threads=2").ran(10);
  }
  const AnswerTable table = table_of(sample);
  ASSERT_THAT(table.rows, SizeIs(1));
  EXPECT_EQ(table.rows[0].cells, "add; mul; mm; 1 more");
  EXPECT_THAT(table.rows[0].fields,
              ElementsAre("no failure at 1, 2 (0/20, each < 31%), 2 at once, each"));
}

TEST(AnswerRows, TheWorstComesFirst) {
  SampleJournal sample;
  sample.plan("cpu/add/default/iterations=20/threads=2").ran(10);
  sample.plan("cpu/add/default/iterations=50/threads=2").ran(10, 1);
  EXPECT_THAT(table_of(sample).rows[0].fields, ElementsAre("1 crash in 10 at 2"));
}

TEST(AnswerRows, ThreadsThatNeverMetAreNoPass) {
  SampleJournal sample;
  sample.overlap = false;
  sample.plan("cpu/add/default/threads=8").ran(10);
  EXPECT_THAT(table_of(sample).rows[0].fields,
              ElementsAre("no failure at 8 (0/10 < 31%), threads never met"));
}

TEST(AnswerRows, OfOneCountAloneNothingIsSaidBelowItOrAbove) {
  SampleJournal sample;
  sample.plan("mlx/add/default/threads=16").ran(10, 3);
  sample.plan("mlx/mm/default/threads=16").ran(10);
  sample.plan("mlx/raw/default/threads=16").ran(5).came_to(5, Outcome::refused);
  const AnswerTable table = table_of(sample);
  ASSERT_THAT(table.rows, SizeIs(3));
  EXPECT_THAT(table.rows[0].fields, ElementsAre("3 crashes in 10 at 16"));
  EXPECT_THAT(table.rows[1].fields,
              ElementsAre("no failure at 16 (0/5 < 53%), 16 at once; refused at 16"));
  EXPECT_THAT(table.rows[2].fields, ElementsAre("no failure at 16 (0/10 < 31%), 16 at once"));
}

TEST(AnswerRows, OfABoundaryThatIsNotSettledWhatWasSeenIsSaid) {
  SampleJournal sample;
  sample.journal.header.settle_rate = 0.1;
  sample.plan("mlx/raw/default/threads=1").ran(10);
  sample.plan("mlx/raw/default/threads=4").ran(2, 2);
  EXPECT_THAT(
      table_of(sample).rows[0].fields,
      ElementsAre(AllOf(StartsWith("10% or more from 4, not settled; 2 crashes in 2 at 4; "),
                        HasSubstr("none at 1 (0/10 < "))));
  EXPECT_FALSE(analyse(sample.journal).boundaries[0].settled->settled);
}

TEST(AnswerRows, ProcessesAreASeriesOfTheirOwn) {
  const AnswerTable table = table_of(report_000());
  ASSERT_THAT(table.rows, SizeIs(4));
  EXPECT_EQ(table.rows[3].axis, "processes");
  EXPECT_EQ(table.rows[3].cells, "linear, in processes");
  EXPECT_THAT(table.rows[3].fields, ElementsAre("no failure at 1, 2, 4, 6, 8 (0/50, each < 31%)"));
}

}  // namespace
}  // namespace mpsprobe
