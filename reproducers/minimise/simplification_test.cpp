#include "reproducers/minimise/simplification.h"

#include <gmock/gmock.h>

#include "reproducers/minimise/planted_for_tests.h"

namespace mpsprobe {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> operations_of(const std::vector<Cell>& cells) {
  std::vector<std::string> names;
  for (const Cell& cell : cells) names.push_back(cell.op);
  return names;
}

TEST(Simplification, TellsWhatChangedAxisByAxis) {
  EXPECT_EQ(change_between(parse_cell("sim/mlp/graph/threads=8/sync=end"),
                           parse_cell("sim/linear/default/threads=4")),
            "op mlp -> linear, path graph -> default, threads 8 -> 4, sync end -> each");
  EXPECT_EQ(change_between(Cell{}, Cell{}), "");
}

TEST(Simplification, PartsThatTheSignatureNamesComeFirst) {
  const Cell cell = parse_cell("sim/transformer_layer/nograph/threads=4/shape=8x2x32x4x64");
  EXPECT_THAT(operations_of(parts_of(cell, planted_operations(), "wrong numbers of relu")),
              ElementsAre("relu", "layer_norm", "mm", "linear"));
  EXPECT_THAT(operations_of(parts_of(cell, planted_operations(), "commit command buffer")),
              ElementsAre("layer_norm", "mm", "linear", "relu"));
}

TEST(Simplification, APartKeepsOnlyWhatItKnows) {
  const Cell cell =
      parse_cell("sim/mlp/graph/threads=4/shape=8x2x32x4/dtype=float16/model=per-thread/sync=end");
  const std::vector<Cell> parts = parts_of(cell, planted_operations(), "");
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(to_string(parts[0]),
            "sim/linear/graph/threads=4/dtype=float16/model=per-thread/sync=end");
  EXPECT_EQ(to_string(parts[1]), "sim/relu/default/threads=4/dtype=float16/sync=end");
  EXPECT_THAT(parts_of(parse_cell("sim/unknown/default"), planted_operations(), ""), IsEmpty());
}

TEST(Simplification, SizesThatAreNoneAreNotRead) {
  EXPECT_THAT(sizes_of("8x64x3"), ElementsAre(8, 64, 3));
  for (const char* text : {"default", "", "x", "8xx3", "8x-1", "0x3", "99999999999999999999"}) {
    EXPECT_THAT(sizes_of(text), IsEmpty()) << text;
  }
}

TEST(Simplification, WhatAThreadLeavesToItsEndIsAConditionOfMlx) {
  const auto changes_of = [](const char* text) {
    const Cell cell = parse_cell(text);
    std::vector<std::string> changes;
    for (const ConditionChange& change : conditions_of(cell, planted_operations())) {
      changes.push_back(change_between(cell, change.cell));
    }
    return changes;
  };
  const char* const clears = "leave nothing -> clear-streams";
  EXPECT_THAT(changes_of("mlx/raw/default/threads=1"), Contains(clears));
  EXPECT_THAT(changes_of("sim/linear/nograph/threads=4"), Not(Contains(clears)));
}

}  // namespace
}  // namespace mpsprobe
