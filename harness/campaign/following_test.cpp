#include "harness/campaign/following.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace mpsprobe {
namespace {

/// Runs so many trials of which those of a failing cell fail; how many each cell got.
std::map<std::string, int> run(Following following, int trials,
                               const std::function<bool(const Cell&)>& fails) {
  std::map<std::string, int> had;
  for (int i = 0; i < trials; ++i) {
    const auto next = following.next([](size_t) { return false; });
    if (!next) break;
    const Cell& cell = following.cells()[*next].cell;
    ++had[to_string(cell)];
    following.add(*next, true, fails(cell));
  }
  return had;
}

Following sample() {
  const auto cell = [](const char* id, bool if_failed = false, Proportion seen = {0, 5}) {
    return SeenCell{"stock", parse_cell(id), if_failed ? Proportion{} : seen, 0, if_failed};
  };
  return Following({cell("mlx/mlp/default/threads=1"), cell("mlx/mlp/default/threads=8"),
                    cell("mlx/mlp/default/threads=8/lock=forward", true),
                    cell("mlx/raw/default/threads=4", false, {4, 5}),
                    cell("mlx/raw/default/threads=2", true),
                    cell("mlx/raw/default/threads=4/lock=forward", true),
                    cell("mlx/raw/default/processes=4", true)});
}

TEST(Following, SpendsTheRestOnWhatFails) {
  const auto had =
      run(sample(), 70, [](const Cell& cell) { return cell.op == "raw" && cell.threads > 1; });
  EXPECT_EQ(had.size(), 4U);
  for (const auto& [id, trials] : had) {
    EXPECT_NE(id.find("raw"), std::string::npos);
    EXPECT_GE(trials, 6);
  }
}

// Whoever has time for forty trials alone wants to know what helps, and not what a warm-up does.
TEST(Following, AsksALockAndProcessesFirst) {
  std::vector<SeenCell> cells = sample().cells();
  cells.push_back({"stock", parse_cell("mlx/raw/default/threads=3"), {}, 0, true});
  cells.push_back({"stock", parse_cell("mlx/raw/default/threads=4/warmup=main"), {}, 0, true});
  const auto fails = [](const Cell& cell) { return cell.op == "raw" && cell.threads > 1; };
  EXPECT_THAT(run(Following(cells), 55, fails),
              testing::ElementsAre(testing::Pair("mlx/raw/default/threads=1/processes=4", 20),
                                   testing::Pair("mlx/raw/default/threads=4", 15),
                                   testing::Pair("mlx/raw/default/threads=4/lock=forward", 20)));
  EXPECT_GT(run(Following(cells), 70, fails)["mlx/raw/default/threads=4/warmup=main"], 0);
}

TEST(Following, GoesOnWithTheRestWhenEnoughIsKnown) {
  const auto had = run(sample(), 400, [](const Cell&) { return true; });
  EXPECT_EQ(had.at("mlx/raw/default/threads=2"), kMostFollowed);
  EXPECT_GT(had.at("mlx/mlp/default/threads=8/lock=forward"), 0);  // it failed, too
}

TEST(Following, WhereNothingFailsTriesTheMostLoad) {
  std::vector<SeenCell> cells = sample().cells();
  for (SeenCell& cell : cells) cell.seen.failures = 0;
  const auto had = run(Following(cells), 20, [](const Cell&) { return false; });
  EXPECT_THAT(had, testing::ElementsAre(testing::Pair("mlx/mlp/default/threads=8", 10),
                                        testing::Pair("mlx/raw/default/threads=4", 10)));
}

TEST(Following, AsksNoMoreWhatGivesNoEvidence) {
  Following following({{"stock", parse_cell("mlx/mlp/default/threads=8"), {}, 10, false}});
  EXPECT_FALSE(following.next([](size_t) { return false; }));
}

}  // namespace
}  // namespace mpsprobe
