#include "scenarios/sim/operations.h"

#include <gtest/gtest.h>

namespace mpsprobe::sim {
namespace {

TEST(Operations, EveryEntryIsFoundByItsName) {
  for (const Operation& operation : operations()) {
    EXPECT_EQ(find_operation(operation.name), &operation) << operation.name;
    EXPECT_EQ(find_operation("aten::" + std::string(operation.name)), &operation);
  }
}

TEST(Operations, ViewsAndCompositesAreNotEncoded) {
  EXPECT_EQ(find_operation("aten::view"), nullptr);
  EXPECT_EQ(find_operation("aten::matmul"), nullptr);
  EXPECT_EQ(find_operation("aten::"), nullptr);
  EXPECT_EQ(find_operation(""), nullptr);
  EXPECT_EQ(find_operation("zzz"), nullptr);
}

TEST(Operations, KernelNamesAreKnownToo) {
  EXPECT_TRUE(is_known_name("uniform_"));
  EXPECT_TRUE(is_known_name("log_softmax"));
  EXPECT_FALSE(is_known_name("liner"));
}

TEST(Operations, LinearTakesTheGraphWhereLayoutOrEnvironmentSaysSo) {
  const PathRule rule = find_operation("linear")->rule;
  EXPECT_EQ(choose_path(rule, {}, true), EncodePath::nograph);
  EXPECT_EQ(choose_path(rule, {}, false), EncodePath::graph);
  EXPECT_EQ(choose_path(rule, {.force_graph = true}, true), EncodePath::graph);
}

TEST(Operations, ReportsFourPaths) {
  const auto path = [](std::string_view name) {
    return name_of(choose_path(find_operation(name)->rule, {}, true));
  };
  EXPECT_EQ(path("empty"), "none");
  EXPECT_EQ(path("zeros"), "blit");
  EXPECT_EQ(path("ones"), "graph");
  EXPECT_EQ(path("randn"), "graph");
  EXPECT_EQ(path("add"), "graph");
  EXPECT_EQ(path("linear"), "nograph");
  EXPECT_EQ(find_operation("ones")->kernel, find_operation("full")->kernel);
}

TEST(Operations, PreferringMetalMovesMatrixProductsOffTheGraph) {
  const PathRule rule = find_operation("addmm")->rule;
  EXPECT_EQ(choose_path(rule, {}, true), EncodePath::graph);
  EXPECT_EQ(choose_path(rule, {.prefer_metal = true}, true), EncodePath::nograph);
}

TEST(Operations, PathNamesRoundTrip) {
  for (const auto path :
       {EncodePath::none, EncodePath::blit, EncodePath::nograph, EncodePath::graph}) {
    EXPECT_EQ(named<EncodePath>(name_of(path)), path);
  }
  EXPECT_FALSE(named<EncodePath>("Graph").has_value());
}

}  // namespace
}  // namespace mpsprobe::sim
