#include "harness/bisect/change_point.h"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>

#include "harness/bisect/simulated_bisection.h"
#include "harness/test_series.h"

namespace mpsprobe {
namespace {

TEST(ChangePoint, NamesTheBuildAtWhichAFailureBeganOrEnded) {
  const std::vector<Proportion> began{{0, 5}, {0, 5}, {5, 5}, {5, 5}};
  const ChangePoint first = find_change(began);
  EXPECT_EQ(first.likeliest(), 2U);
  EXPECT_GT(first.chances[2], 0.95);
  EXPECT_GT(first.began[2], 0.99);
  EXPECT_NEAR(std::accumulate(first.chances.begin(), first.chances.end(), 0.0), 1, 1e-9);

  const std::vector<Proportion> ended{{5, 5}, {0, 5}, {0, 5}, {0, 5}};
  const ChangePoint second = find_change(ended);
  EXPECT_EQ(second.likeliest(), 1U);
  EXPECT_LT(second.began[1], 0.01);
}

TEST(ChangePoint, KnowsThatThereMayBeNoCulprit) {
  EXPECT_EQ(find_change(std::vector<Proportion>{{0, 200}, {0, 0}, {0, 200}}).likeliest(), 0U);
  EXPECT_EQ(find_change(std::vector<Proportion>{{60, 200}, {0, 0}, {58, 200}}).likeliest(), 0U);
  EXPECT_EQ(find_change(std::vector<Proportion>{{7, 7}}).chances, std::vector<double>{1});
}

TEST(ChangePoint, TriesABuildInDoubtAndNoneOfWhichEnoughIsKnown) {
  std::vector<Proportion> builds(9);
  EXPECT_EQ(find_change(builds).build_to_try(), 8U);  // any would do: the newest
  builds[8] = {20, 20};
  builds[0] = {0, 20};
  const size_t next = find_change(builds).build_to_try();
  EXPECT_GE(next, 3U);
  EXPECT_LE(next, 5U);
  EXPECT_LT(find_change(builds).information[0], find_change(builds).information[next] / 100);
}

TEST(ChangePoint, IsTheSameForWhateverOrderOfTrials) {
  const std::vector<Proportion> all{{1, 30}, {0, 3}, {3, 10}, {2, 9}};
  std::vector<Proportion> mirrored(all.rbegin(), all.rend());
  const ChangePoint forward = find_change(all);
  const ChangePoint backward = find_change(mirrored);
  EXPECT_NEAR(forward.chances[2], backward.chances[2], 1e-9);
  EXPECT_NEAR(forward.chances[1], backward.chances[3], 1e-9);
  EXPECT_NEAR(forward.began[2], 1 - backward.began[2], 1e-9);
}

TEST(ChangePoint, StaysANumberAfterManyTrials) {
  const ChangePoint change =
      find_change(std::vector<Proportion>{{0, 1'000'000}, {500'000, 1'000'000}});
  EXPECT_GT(change.chances[1], 0.999);
}

TEST(ChangePoint, RefusesWhatIsNoCount) {
  EXPECT_THROW(find_change({}), std::invalid_argument);
  EXPECT_THROW(find_change(std::vector<Proportion>{{2, 1}}), std::invalid_argument);
}

// Both could be chance, as far as a few trials tell.
TEST(ChangePoint, IsNotSureWhereTrialsCannotTell) {
  const ChangePoint few = find_change(std::vector<Proportion>{{0, 8}, {1, 8}, {2, 8}});
  EXPECT_LT(few.confidence, 0.5);
  EXPECT_EQ(few.possible(0.95), (std::vector<size_t>{0, 1, 2}));
  // All passed: but not often enough to rule out that a tenth fails.
  const ChangePoint passed = find_change(std::vector<Proportion>{{0, 20}, {0, 0}, {0, 20}});
  EXPECT_EQ(passed.likeliest(), 0U);
  EXPECT_LT(passed.confidence, 0.9);
  // Between which two builds is known, and not which of them.
  const ChangePoint near = find_change(std::vector<Proportion>{{0, 40}, {0, 0}, {20, 40}});
  EXPECT_EQ(near.possible(0.95), (std::vector<size_t>{1, 2}));
}

// A small simulation of what decisions_bench measures. Two rates that are far from 0 and near one
// another: of the first model's answers half were wrong.
TEST(ChangePoint, IsRightAsOftenAsItSays) {
  constexpr int kBisections = series(60, 10);
  const std::vector<std::pair<std::string, int>> most_undecided{
      {"began_0_100", 0}, {"ended_40_5", 12}, {"began_5_20", 60}, {"none_0", 3}, {"none_30", 60}};
  for (const PlantedChange& planted : planted_changes()) {
    for (const auto& [name, undecided] : most_undecided) {
      if (planted.name != name) continue;
      const SimulatedBisections all = bisect_simulated(planted, 16, 0.95, 240, kBisections, 24);
      EXPECT_LE(all.said() - all.right, kBisections / 20) << name;
      EXPECT_LE(all.undecided, undecided) << name;
      EXPECT_GE(all.held, all.undecided * 9 / 10) << name;
    }
  }
}

TEST(ChangePoint, TakesFewTrialsWhereOneSideAlwaysFails) {
  const SimulatedBisections all =
      bisect_simulated({"began_0_100", 0, 1}, 64, 0.95, 1000, series(60, 10), 24);
  EXPECT_LE(all.mean_trials, 21);
}

}  // namespace
}  // namespace mpsprobe
