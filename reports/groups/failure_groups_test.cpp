#include "reports/groups/failure_groups.h"

#include <gmock/gmock.h>

#include "harness/test_series.h"
#include "reports/groups/group_words.h"
#include "reports/groups/simulated_groups.h"
#include "reports/sample_journal.h"

namespace mpsprobe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class FailureGroupsOfARun : public testing::Test {
 protected:
  void cell(const std::string& op, const std::string& axes, int failures) {
    sample_.plan("mlx/" + op + "/default/iterations=30/" + axes).ran(30, failures);
  }
  /// A failure of streams of their own, with its controls.
  void race_of_streams(const std::string& op, bool with_lock = true) {
    cell(op, "threads=1/stream=per-thread", 0);
    cell(op, "threads=4/stream=per-thread", 20);
    cell(op, "threads=4", 0);
    if (with_lock) cell(op, "threads=4/lock=forward/stream=per-thread", 0);
  }
  void race_of_anything(const std::string& op) {
    cell(op, "threads=1", 0);
    cell(op, "threads=4", 25);
    cell(op, "threads=4/lock=forward", 0);
  }

  SampleJournal sample_;
};

TEST_F(FailureGroupsOfARun, JoinWhatNeedsTheSameAndKeepApartWhatGoesOn) {
  race_of_streams("chain");
  race_of_streams("mlp");
  race_of_anything("lazy");
  race_of_anything("compiled");
  const Analysis analysis = analyse(sample_.journal);
  const FailureGroups found = find_groups(analysis);
  ASSERT_THAT(found.operations, SizeIs(4));
  ASSERT_THAT(found.groups, SizeIs(1));
  EXPECT_THAT(found.groups[0].operations, ElementsAre(0, 1));
  EXPECT_THAT(operations_in_words(analysis, found, found.groups[0].operations),
              HasSubstr("chain (20 of 30 trials failed); mlp (20 of 30): of each none seen with 1 "
                        "thread, with stream=default, with a lock (0 of "));
  EXPECT_THAT(
      operations_in_words(analysis, found, {2}),
      HasSubstr(
          "lazy (25 of 30 trials failed): none seen with 1 thread, with a lock (0 of 60; each "
          "p < 0.001 over 10 comparisons); fails also with stream=default"));
  const std::vector<SaidOfFailures> said = said_of_failures(analysis, found);
  ASSERT_THAT(said, SizeIs(2));
  EXPECT_TRUE(said[0].group);
  EXPECT_THAT(said[1].words, HasSubstr("lazy (25 of 30 trials failed); compiled (25 of 30): of "
                                       "each none seen with 1 thread, with a lock (0 of 120; "));
  EXPECT_THAT(cells_that_tell(analysis, found), IsEmpty());
}

TEST_F(FailureGroupsOfARun, NameTheCellsThatWouldTell) {
  race_of_streams("chain");
  race_of_streams("mlp", false);
  const Analysis analysis = analyse(sample_.journal);
  const FailureGroups found = find_groups(analysis);
  EXPECT_THAT(found.groups, IsEmpty());
  EXPECT_THAT(operations_in_words(analysis, found, {1}), HasSubstr("not told with a lock"));
  EXPECT_THAT(found.operations[0].telling, IsEmpty());
  EXPECT_THAT(found.operations[1].telling, SizeIs(1));
  const std::vector<std::string> cells = cells_that_tell(analysis, found);
  EXPECT_THAT(cells, SizeIs(8));
  EXPECT_THAT(cells, testing::Contains(found.operations[1].telling[0]));
  EXPECT_THAT(what_would_tell(analysis, found), HasSubstr("runs 8 cells"));
}

// One thread and a lock are what every race is spared by.
TEST_F(FailureGroupsOfARun, JoinNothingThatNeedsNoMoreThanEveryRace) {
  race_of_anything("lazy");
  race_of_anything("compiled");
  EXPECT_THAT(find_groups(analyse(sample_.journal)).groups, IsEmpty());
}

// What decisions_bench measures, in small.
TEST(FailureGroups, SeldomJoinUnlikeConditions) {
  constexpr int kWorlds = series(300, 30);
  EXPECT_LE(group_simulated({0.5, 30}, kWorlds, 1).false_joins, kWorlds / 50);
  EXPECT_GE(group_simulated({0.5, 30, 1, true}, kWorlds, 1).whole, kWorlds * 9 / 10);
}

}  // namespace
}  // namespace mpsprobe
