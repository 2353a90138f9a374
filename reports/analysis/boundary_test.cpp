#include "reports/analysis/boundary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "reports/analysis/analysis.h"

namespace mpsprobe {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

CellSummary threads(int count, int failures, int trials = 10) {
  CellSummary cell;
  cell.cell.op = "linear";
  cell.cell.threads = count;
  cell.counted = trials;
  cell.failures = failures;
  return cell;
}

std::vector<Boundary> boundaries_of(const std::vector<CellSummary>& cells) {
  std::vector<Arm> arms(2);
  arms[0].label = "stock";
  arms[1].label = "fork";
  return find_boundaries(cells, arms);
}

Boundary only(const std::vector<CellSummary>& cells) {
  const std::vector<Boundary> found = boundaries_of(cells);
  EXPECT_THAT(found, SizeIs(1));
  return found.empty() ? Boundary{} : found.front();
}

TEST(Boundary, LiesBetweenTheLastPassAndTheFirstFailure) {
  const Boundary boundary = only({threads(1, 0), threads(2, 0), threads(3, 10), threads(8, 10)});
  EXPECT_EQ(boundary.axis, "threads");
  EXPECT_EQ(boundary.most_passing->count, 2);
  EXPECT_EQ(boundary.most_passing->trials, 10);
  EXPECT_EQ(boundary.fewest_failing->count, 3);
  EXPECT_EQ(boundary.fewest_failing->failures, 10);
  EXPECT_TRUE(boundary.monotone());
}

TEST(Boundary, OneFailureInManyTrialsIsAFailure) {
  const Boundary boundary = only({threads(1, 0), threads(2, 1), threads(4, 10)});
  EXPECT_EQ(boundary.most_passing->count, 1);
  EXPECT_EQ(boundary.fewest_failing->count, 2);
  EXPECT_EQ(boundary.fewest_failing->failures, 1);
}

TEST(Boundary, PassingAgainAboveAFailureIsNotHidden) {
  const Boundary boundary = only({threads(1, 0), threads(2, 3), threads(4, 0), threads(8, 2)});
  EXPECT_EQ(boundary.most_passing->count, 1);
  EXPECT_EQ(boundary.fewest_failing->count, 2);
  EXPECT_FALSE(boundary.monotone());
  EXPECT_THAT(boundary.passing_above, ElementsAre(4));
}

TEST(Boundary, WhatWasRefusedIsNeitherAPassNorUntested) {
  CellSummary refused = threads(4, 0, 0);
  refused.refused = 10;
  const Boundary boundary = only({threads(1, 0), refused, threads(8, 0, 0)});
  EXPECT_EQ(boundary.most_passing->count, 1);
  EXPECT_FALSE(boundary.fewest_failing);
  EXPECT_THAT(boundary.refused, ElementsAre(4));
  EXPECT_THAT(boundary.untested, ElementsAre(8));
}

TEST(Boundary, AllPassHasNoFirstFailure) {
  const Boundary boundary = only({threads(8, 0), threads(1, 0)});
  EXPECT_EQ(boundary.most_passing->count, 8);
  EXPECT_FALSE(boundary.fewest_failing);
}

TEST(Boundary, AllFailHasNoLargestPass) {
  const Boundary boundary = only({threads(1, 10), threads(2, 10)});
  EXPECT_FALSE(boundary.most_passing);
  EXPECT_EQ(boundary.fewest_failing->count, 1);
}

TEST(Boundary, CountsWithoutEvidenceAreGapsAndNoPasses) {
  const Boundary boundary =
      only({threads(1, 0), threads(2, 0, 0), threads(3, 0, 0), threads(4, 5)});
  EXPECT_EQ(boundary.most_passing->count, 1);
  EXPECT_EQ(boundary.fewest_failing->count, 4);
  EXPECT_THAT(boundary.untested, ElementsAre(2, 3));
}

TEST(Boundary, NeedsTwoTestedCounts) {
  EXPECT_THAT(boundaries_of({threads(4, 10)}), IsEmpty());
  EXPECT_THAT(boundaries_of({threads(1, 0), threads(2, 0, 0)}), IsEmpty());
  EXPECT_THAT(boundaries_of({}), IsEmpty());
}

TEST(Boundary, KeepsWorkersAndEveryOtherAxisApart) {
  std::vector<CellSummary> cells{threads(1, 0), threads(2, 0), threads(1, 0), threads(2, 10)};
  cells[2].arm = cells[3].arm = 1;
  for (const auto& [count, failures] : {std::pair{1, 0}, std::pair{2, 4}}) {
    cells.push_back(threads(count, failures));
    cells.back().cell.validation = Validation::api;
  }
  const std::vector<Boundary> found = boundaries_of(cells);
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_FALSE(found[0].fewest_failing);
  EXPECT_EQ(found[1].worker, "fork");
  EXPECT_EQ(found[1].fewest_failing->failures, 10);
  EXPECT_EQ(found[2].group.validation, Validation::api);
  EXPECT_EQ(found[2].fewest_failing->failures, 4);
}

TEST(Boundary, RunsAlongProcessesToo) {
  std::vector<CellSummary> cells{threads(1, 0), threads(1, 0), threads(2, 10)};
  cells[1].cell.processes = 8;
  const std::vector<Boundary> found = boundaries_of(cells);
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].axis, "threads");
  EXPECT_EQ(found[1].axis, "processes");
  EXPECT_EQ(found[1].most_passing->count, 8);
  EXPECT_EQ(found[1].group.threads, 1);
}

}  // namespace
}  // namespace mpsprobe
