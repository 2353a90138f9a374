#include "harness/bisect/change_point.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "harness/statistics/simulated_trials_for_tests.h"
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

/// Bisections over builds with known failure rates, at a drawn one of which the rate changes, until
/// an answer is as sure as 95%.
struct Bisections {
  double before = 0;
  double after = 0;
  size_t builds = 16;
  int most_trials = 240;
  int many = worlds(series(60, 10));

  int right = 0;      ///< the planted build, and whether it began or ended; or no culprit
  int undecided = 0;  ///< at `most_trials`
  int held = 0;       ///< of these, with what was planted among what is said to be possible
  double mean_trials = 0;

  int wrong() const { return many - undecided - right; }

  Bisections& simulate() {
    SimulatedTrials random(24);
    for (int i = 0; i < many; ++i) one(random);
    measured(fmt::format(
        "{} builds, {} and then {}: {:.1f} trials, {} of {} undecided, {} right, {} wrong, {} held",
        builds, before, after, mean_trials, undecided, many, right, wrong(), held));
    return *this;
  }

 private:
  void one(SimulatedTrials& random) {
    constexpr double kSure = 0.95;
    const bool culprit = before != after;
    const size_t place =
        culprit ? 1 + static_cast<size_t>(random.uniform() * static_cast<double>(builds - 1)) : 0;
    std::vector<Proportion> seen(builds);
    int trials = 0;
    ChangePoint change = find_change(seen);
    while (change.confidence < kSure && trials < most_trials) {
      const size_t build = change.build_to_try();
      ++trials;
      ++seen[build].trials;
      seen[build].failures += random.fails(culprit && build >= place ? after : before) ? 1 : 0;
      change = find_change(seen);
    }
    mean_trials += trials / static_cast<double>(many);
    if (change.confidence < kSure) {
      ++undecided;
      const std::vector<size_t> possible = change.possible(kSure);
      held += std::count(possible.begin(), possible.end(), place) > 0 ? 1 : 0;
      return;
    }
    const size_t found = change.likeliest();
    const bool direction = !culprit || (change.began[found] > 0.5) == (after > before);
    right += found == place && direction ? 1 : 0;
  }
};

// Two rates that are far from 0 and near one another: of the first model's answers half were wrong.
TEST(ChangePoint, IsRightAsOftenAsItSays) {
  const auto expect_right = [](Bisections all) {
    all.simulate();
    EXPECT_LE(all.wrong(), all.many / 20) << all.before << " " << all.after;
    EXPECT_GE(all.held, all.undecided * 9 / 10) << all.before << " " << all.after;
    return all.undecided;
  };
  EXPECT_EQ(expect_right({0, 1}), 0);
  EXPECT_LE(expect_right({0.4, 0.05}), worlds(60) / 5);
  expect_right({0.05, 0.2});
  EXPECT_LE(expect_right({0, 0}), worlds(60) / 20);
  expect_right({0.3, 0.3});
  if (!all_worlds()) return;
  for (const double before : {0.0, 0.01, 0.05, 0.1, 0.3}) {
    for (const double after : {0.1, 0.2, 0.4, 1.0}) {
      if (after - before < 0.0999) continue;
      expect_right({before, after});
      expect_right({after, before});
    }
  }
  for (const double rate : {0.01, 0.05, 0.1, 1.0}) expect_right({rate, rate});
  // As many trials as `mpsprobe bisect` makes.
  for (const auto& [before, after] : {std::pair{0.0, 1.0},
                                      {1.0, 0.0},
                                      {0.0, 0.3},
                                      {0.0, 0.1},
                                      {0.2, 0.8},
                                      {0.05, 0.2},
                                      {0.0, 0.0},
                                      {0.02, 0.02},
                                      {1.0, 1.0}}) {
    expect_right({before, after, 64, 2000});
  }
}

TEST(ChangePoint, TakesFewTrialsWhereOneSideAlwaysFails) {
  EXPECT_LE(Bisections({0, 1, 64, 1000}).simulate().mean_trials, 21);
}

}  // namespace
}  // namespace mpsprobe
