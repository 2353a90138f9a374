#include "reports/claims/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/sample_journal.h"

namespace mpsprobe {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<Advice> advice_of(const SampleJournal& sample) {
  return analyse(sample.journal).advice;
}

TEST(Advice, NothingWhereNothingFailed) {
  SampleJournal sample;
  sample.plan("cpu/add/default/threads=1").ran(10);
  sample.plan("cpu/add/default/threads=8").ran(10);
  sample.plan("cpu/add/default/threads=8/lock=forward").ran(10);
  sample.plan("cpu/add/default/threads=1/processes=8").ran(10);
  EXPECT_THAT(advice_of(sample), IsEmpty());
}

TEST(Advice, NothingWhereEverythingFailed) {
  SampleJournal sample;
  sample.plan("cpu/add/default/threads=1").ran(10, 10);
  sample.plan("cpu/add/default/threads=2").ran(10, 10);
  EXPECT_THAT(advice_of(sample), IsEmpty());
}

TEST(Advice, LargestThreadCountWithWhatItIsWorth) {
  SampleJournal sample;
  sample.plan("sim/linear/nograph/threads=2").ran(10);
  sample.plan("sim/linear/nograph/threads=3").ran(10, 10);
  const std::vector<Advice> advice = advice_of(sample);
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_EQ(advice[0].text,
            "linear nograph: at most 2 threads at a time. There 0 of 10 failed: below 31% with 95% "
            "confidence.");
}

TEST(Advice, NoThreadCountWhoseThreadsNeverMet) {
  SampleJournal sample;
  sample.overlap = false;
  sample.plan("sim/linear/nograph/threads=2").ran(10);
  sample.plan("sim/linear/nograph/threads=3").ran(10, 10);
  EXPECT_THAT(advice_of(sample), IsEmpty());
}

TEST(Advice, ProcessesWhereThreadsFailedAndProcessesPassed) {
  SampleJournal sample;
  sample.plan("sim/linear/default/threads=1").ran(10);
  sample.plan("sim/linear/default/threads=4").ran(10, 10);
  sample.plan("sim/linear/default/threads=1/processes=4").ran(10);
  const std::vector<Advice> advice = advice_of(sample);
  ASSERT_THAT(advice, SizeIs(2));
  EXPECT_EQ(advice[1].code, "processes");
  EXPECT_EQ(advice[1].text,
            "linear: no failure with a process for each thread: 0 of 10 failed, with threads 10 of "
            "10 (p < 0.001).");
}

TEST(Advice, ProcessesOfAnotherOperationSayNothing) {
  SampleJournal sample;
  sample.plan("sim/linear/default/threads=4").ran(10, 10);
  sample.plan("sim/mm/default/threads=1").ran(10);
  sample.plan("sim/mm/default/threads=1/processes=4").ran(10);
  EXPECT_THAT(advice_of(sample), IsEmpty());
}

TEST(Advice, ALockThatHelpsWithItsPriceAtTheSameThreadCount) {
  SampleJournal sample;
  sample.operations_per_second = 2000;
  sample.plan("sim/linear/nograph/threads=2").ran(10);
  sample.plan("sim/linear/nograph/threads=4").ran(10, 10);
  sample.operations_per_second = 500;
  sample.plan("sim/linear/nograph/threads=2/lock=forward").ran(10);
  sample.plan("sim/linear/nograph/threads=4/lock=forward").ran(10);
  const std::vector<Advice> advice = advice_of(sample);
  ASSERT_THAT(advice, SizeIs(2));
  EXPECT_EQ(advice[1].code, "lock");
  EXPECT_THAT(advice[1].text,
              HasSubstr("at 2 threads it does 0.25 to 0.25 times the operations per second of "
                        "lock=none (95% confidence)"));
}

// 3 of 10 without it and 0 of 10 with it may be the same rate.
TEST(Advice, ADifferenceThatIsNotShownIsInconclusive) {
  SampleJournal sample;
  sample.plan("sim/linear/nograph/threads=4").ran(10, 3);
  sample.plan("sim/linear/nograph/threads=4/lock=forward").ran(10);
  const std::vector<Advice> advice = advice_of(sample);
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_EQ(advice[0].code, "inconclusive");
}

TEST(Advice, ALockThatFailsLessOftenIsSaidToDoJustThat) {
  SampleJournal sample;
  sample.plan("sim/linear/nograph/threads=4").ran(59, 49);
  sample.plan("sim/linear/nograph/threads=4/lock=forward").ran(59, 7);
  const std::vector<Advice> advice = advice_of(sample);
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_EQ(
      advice[0].text,
      "linear nograph: fails less often with lock=forward, still fails: 7 of 59 failed, with "
      "lock=none 49 of 59 (p < 0.001). Its price: at 4 threads it does 1.00 to 1.00 times the "
      "operations per second of lock=none (95% confidence).");
}

}  // namespace
}  // namespace mpsprobe
