#include "harness/matrix/planned_cells.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/input/input_error.h"
#include "harness/journal/header_json.h"
#include "harness/matrix/expand.h"
#include "harness/test_series.h"

namespace mpsprobe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> texts_of(const PlannedCells& cells) {
  std::vector<std::string> texts;
  for (const PlannedCell& planned : cells) texts.push_back(to_string(planned.cell));
  return texts;
}

Operations one_operation() {
  Operations operations;
  OperationInfo info;
  info.name = "mm";
  info.paths = {"default"};
  operations.emplace(info.name, info);
  return operations;
}

Plan plan_of_matrix(const std::string& rest) {
  return expand(parse_matrix("{\"mpsprobe_matrix\":1,\"name\":\"m\"," + rest + "}", "m.json"),
                one_operation(), {});
}

TEST(PlannedCells, OfAGridAreTheProductsThatItKeeps) {
  PlannedCells cells;
  cells.push_back(CellGrid{"block",
                           {{"backend", {"cpu"}},
                            {"op", {"mm"}},
                            {"threads", {"1", "2"}},
                            {"lock", {"none", "forward"}}},
                           {{0, 1}, {2, 2}}});
  cells.push_back(PlannedCell{parse_cell("sim/mm/default"), "single", std::nullopt});
  EXPECT_THAT(texts_of(cells),
              ElementsAre("cpu/mm/default/threads=1", "cpu/mm/default/threads=2",
                          "cpu/mm/default/threads=2/lock=forward", "sim/mm/default/threads=1"));
  EXPECT_EQ(cells[2].block, "block");
  EXPECT_EQ(cells[3].block, "single");
  EXPECT_THAT(cells.backends(), ElementsAre(Backend::cpu, Backend::sim));
}

TEST(PlannedCells, AGridThatKeepsWhatItDoesNotHaveIsRefused) {
  const auto push = [](std::vector<std::pair<uint64_t, uint64_t>> kept) {
    PlannedCells cells;
    cells.push_back(CellGrid{"b", {{"op", {"mm"}}, {"threads", {"1", "2"}}}, std::move(kept)});
  };
  EXPECT_NO_THROW(push({{0, 2}}));
  EXPECT_THROW(push({{0, 3}}), InputError);
  EXPECT_THROW(push({{1, 1}, {0, 1}}), InputError);
  EXPECT_THROW(push({{2, 1}}), InputError);
  EXPECT_THROW(push({{1, UINT64_MAX}}), InputError);
}

TEST(PlannedCells, OfAReleaseThatHadMoreAxesAreRefusedByTheAxis) {
  PlannedCells cells;
  try {
    cells.push_back(CellGrid{"b", {{"op", {"mm"}}, {"perturb", {"none", "clock"}}}, {{0, 2}}});
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("\"perturb\" is no axis of this release"));
  }
}

TEST(PlannedCells, OfOverlappingBlocksEachStandsOnce) {
  const Plan plan = plan_of_matrix(
      R"("blocks":[{"title":"a","axes":{"backend":["cpu"],"op":["mm"],"threads":["1-3"]}},
                   {"title":"b","axes":{"backend":["cpu"],"op":["mm"],"threads":["2-5"]}}],
         "include":["cpu/mm/default/threads=5","cpu/mm/default/threads=6","cpu/mm/default/threads=6"])");
  EXPECT_EQ(plan.cells.size(), 6U);
  EXPECT_EQ(plan.cells[2].block, "a");
  EXPECT_EQ(plan.cells[3].block, "b");
  EXPECT_EQ(to_string(plan.cells[5].cell), "cpu/mm/default/threads=6");
  CampaignHeader header;
  header.trials = 1;
  header.workers = {{"stock", "/bin/worker", {}}};
  header.cells = plan.cells;
  std::vector<std::string> shared;
  header_from_json(header_to_json(header))
      .cells.for_each_again([&shared](const std::string& block, const Cell& cell) {
        shared.push_back(block + ": " + to_string(cell));
      });
  EXPECT_THAT(shared, ElementsAre("b: cpu/mm/default/threads=2", "b: cpu/mm/default/threads=3"));
  EXPECT_THAT(plan.cells.blocks(), ElementsAre("a", "b", "single cells"));
}

TEST(PlannedCells, OfAJournalAreTheOnesThatWerePlanned) {
  CampaignHeader header;
  header.workers = {{"stock", "/bin/worker", {}}};
  header.trials = 1;
  header.cells =
      plan_of_matrix(
          R"("axes":{"backend":["cpu"],"op":["mm"],"threads":["1-4"],"start":["barrier","staggered"]},
                        "include":["sim/mm/default/threads=9"],
                        "expect":[{"where":{"threads":[3]},"outcome":"signal","detail":"SIGBUS"}])")
          .cells;
  ASSERT_EQ(header.cells.size(), 8U);  // one thread starts in one way
  const PlannedCells again = header_from_json(header_to_json(header)).cells;
  EXPECT_EQ(texts_of(again), texts_of(header.cells));
  for (size_t i = 0; i < again.size(); ++i) {
    EXPECT_EQ(again[i].block, header.cells[i].block);
    ASSERT_EQ(again[i].expectation.has_value(), header.cells[i].expectation.has_value());
    if (again[i].expectation) {
      EXPECT_EQ(again[i].expectation->text(), "signal SIGBUS");
    }
  }
}

TEST(PlannedCells, AMillionTakeNoMoreRoomThanTheirValues) {
  constexpr int kIterations = series(4000, 200);
  const Plan plan = plan_of_matrix(
      R"("axes":{"backend":["cpu"],"op":["mm"],"threads":["1-250"],"iterations":["1-)" +
      std::to_string(kIterations) + "\"]}");
  constexpr size_t kCells = size_t{250} * kIterations;
  ASSERT_EQ(plan.cells.size(), kCells);
  EXPECT_EQ(to_string(plan.cells.cell(kCells - 1)),
            "cpu/mm/default/threads=250/iterations=" + std::to_string(kIterations));
  CampaignHeader header;
  header.cells = plan.cells;
  EXPECT_LT(header_to_json(header).dump().size(), 100'000U);
}

}  // namespace
}  // namespace mpsprobe
