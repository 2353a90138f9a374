#include "harness/campaign/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "harness/campaign/merge.h"
#include "harness/input/input_error.h"

namespace mpsprobe {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

PlannedCells cells_of(int operations, int threads) {
  PlannedCells cells;
  for (int op = 0; op < operations; ++op) {
    for (int count = 1; count <= threads; ++count) {
      PlannedCell planned;
      planned.cell.op = "op" + std::to_string(op);
      planned.cell.threads = count;
      cells.push_back(planned);
    }
  }
  return cells;
}

TEST(Shards, DivideEveryCellOnceEvenlyAndNoBoundary) {
  const PlannedCells cells = cells_of(13, 8);
  for (size_t count : {1, 2, 5, 13, 40}) {
    const std::vector<size_t> divided = divide_into_shards(cells, count);
    std::map<std::string, std::set<size_t>> by_boundary;
    std::map<size_t, size_t> sizes;
    for (size_t i = 0; i < cells.size(); ++i) {
      ASSERT_LT(divided[i], count);
      by_boundary[boundary_of(cells[i].cell)].insert(divided[i]);
      ++sizes[divided[i]];
    }
    for (const auto& [boundary, shards] : by_boundary) EXPECT_THAT(shards, SizeIs(1)) << boundary;
    for (const auto& [shard, size] : sizes) EXPECT_LE(size, (13 / count + 1) * 8) << shard;
  }
}

TEST(Shards, AreCountedFromOneByPeople) {
  EXPECT_EQ(shard_named("1/4").index, 0U);
  EXPECT_EQ(shard_named("4/4").index, 3U);
  for (const char* wrong : {"0/4", "5/4", "1", "1/0", "-1/2", "a/b", "1/2/3", "", "1/99999"}) {
    EXPECT_THROW(shard_named(wrong), InputError) << wrong;
  }
}

/// Two shards of a plan of two boundaries, both on one machine.
std::vector<NamedJournal> two_shards() {
  std::vector<NamedJournal> shards;
  for (size_t index : {0, 1}) {
    Journal journal;
    journal.run = "run" + std::to_string(index);
    journal.header.started = "2026-01-31T12:00:0" + std::to_string(index) + ".000Z";
    journal.header.trials = 1;
    journal.header.workers.push_back({"stock", "/bin/worker", {}});
    journal.header.machine = {{"chip", "Apple M2"}};
    journal.header.cells = cells_of(2, 3);
    keep_shard(journal.header, {index, 2});
    for (const PlannedCell planned : journal.header.cells) {
      TrialRecord trial;
      trial.cell = planned.cell;
      trial.judgement.outcome = Outcome::pass;
      trial.started = journal.header.started;
      trial.sequence = journal.trials.size();
      journal.trials.push_back(trial);
    }
    shards.push_back({"shard" + std::to_string(index), journal});
  }
  return shards;
}

TEST(Merge, HasEachTrialOnceHoweverOftenAShardIsNamed) {
  std::vector<NamedJournal> shards = two_shards();
  const Journal merged = merge_journals(shards);
  EXPECT_THAT(merged.trials, SizeIs(6));
  EXPECT_EQ(merged.header.cells.size(), 6U);
  EXPECT_FALSE(merged.header.shard.has_value());
  shards.push_back(shards[0]);
  shards.insert(shards.begin(), {"merged", merged});
  const Journal again = merge_journals(shards);
  EXPECT_THAT(again.trials, SizeIs(6));
  EXPECT_EQ(again.run, merged.run);
  EXPECT_EQ(merge_journals({{"merged", merged}}).run, merged.run);
}

TEST(Merge, NamesTheShardThatIsMissing) {
  std::vector<NamedJournal> shards = two_shards();
  EXPECT_THAT(missing_shards(shards), SizeIs(0));
  shards.pop_back();
  EXPECT_THAT(missing_shards(shards), testing::ElementsAre(2));
}

TEST(Merge, RefusesUnlikeMachinesInABoundaryAndOnlyThere) {
  std::vector<NamedJournal> shards = two_shards();
  shards[1].journal.header.machine["chip"] = "Apple M4";
  EXPECT_EQ(merge_journals(shards).header.machine.at("chip"), "several");
  shards.push_back(two_shards()[1]);
  shards.back().name = "rerun";
  shards.back().journal.run = "run2";
  try {
    merge_journals(shards);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("unlike machines"));
    EXPECT_THAT(error.what(), HasSubstr("sim/op1/"));
  }
}

TEST(Merge, RefusesAnotherPlan) {
  std::vector<NamedJournal> shards = two_shards();
  shards[1].journal.header.seed = 9;
  EXPECT_THROW(merge_journals(shards), InputError);
}

// How often a race is met depends on it.
TEST(Merge, RefusesShardsWhoseProcessesWereStartedInOtherWays) {
  std::vector<NamedJournal> shards = two_shards();
  shards[1].journal.header.start_process = StartProcess::fork;
  try {
    merge_journals(shards);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("they differ in start_process"));
  }
}

}  // namespace
}  // namespace mpsprobe
