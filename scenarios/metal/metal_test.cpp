#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <span>

#include "scenarios/metal/metal_program.h"
#include "scenarios/metal/recipe.h"
#include "scenarios/metal/reference.h"

namespace mpsprobe::metal {
namespace {

using testing::HasSubstr;

Recipe recipe_of(const char* name, const Sizes& sizes) {
  return find_metal_operation(name)->recipe(sizes);
}

std::string difference(const char* name, const Sizes& sizes, const std::vector<Numbers>& given,
                       const std::vector<Numbers>& results) {
  const std::vector<std::span<const float>> spans(results.begin(), results.end());
  const Recipe recipe = recipe_of(name, sizes);
  return Reference(recipe, find_metal_operation(name)->rounding, given).difference_in(spans);
}

TEST(MetalReference, LinearIsTheProductWithTheTransposedWeightAndTheBias) {
  // x = [1 2], w = [[3 4] [5 6] [7 8]], b = [1 2 3]: 11 + 1, 17 + 2, 23 + 3.
  const std::vector<Numbers> given = {{1, 2}, {3, 4, 5, 6, 7, 8}, {1, 2, 3}};
  EXPECT_EQ(difference("linear", {1, 2, 3}, given, {{12, 19, 26}}), "");
  EXPECT_THAT(difference("linear", {1, 2, 3}, given, {{12, 19, 27}}),
              HasSubstr("at index [0,2] expected 26, got 27"));
}

TEST(MetalReference, EachOperationIsComparedWithWhatItShouldGive) {
  EXPECT_EQ(difference("mm", {2, 2, 2}, {{1, 2, 3, 4}, {5, 6, 7, 8}}, {{19, 22, 43, 50}}), "");
  EXPECT_EQ(difference("add", {3}, {{1, 2, 3}, {10, 20, 30}}, {{11, 22, 33}}), "");
  EXPECT_EQ(difference("relu", {3}, {{-1, 0, 2}}, {{0, 0, 2}}), "");
  EXPECT_EQ(difference("axpy", {2}, {{1, 2}, {10, 20}}, {{12, 24}}), "");
  EXPECT_EQ(difference("sin", {2}, {{0, 1}}, {{0, 0.841471F}}), "");
  EXPECT_THAT(difference("sin", {2}, {{0, 1}}, {{0, 0.83F}}), HasSubstr("at index [1]"));
  EXPECT_EQ(difference("strided_copy", {2}, {{1, 2, 3, 4, 5, 6}}, {{1, 4}}), "");
  EXPECT_EQ(difference("softmax", {1, 2}, {{0, 0}}, {{0.5F, 0.5F}}), "");
  EXPECT_EQ(difference("zeros", {2}, {}, {{0, 0}}), "");
  EXPECT_THAT(difference("zeros", {2}, {}, {{0, 1}}), HasSubstr("1 of 2"));
  EXPECT_THAT(difference("relu", {3}, {{-1, 0, 2}}, {{-1, 0, 2}}), HasSubstr("at index [0]"));
}

TEST(MetalReference, RawIsJudgedByTheSamplesThatItDrew) {
  const Numbers a = {1, -1, 0.5F, 2};
  const Numbers b = {0.5F, 1, -1, 1};
  const Numbers product = {1.5F, 0, -1.75F, 2.5F};
  const Numbers positive = {1.5F, 0, 0, 2.5F};
  EXPECT_EQ(difference("raw", {2, 2, 2}, {}, {a, b, product, positive}), "");
  EXPECT_THAT(difference("raw", {2, 2, 2}, {}, {a, b, product, product}), HasSubstr("result 4"));
  const Numbers stale = {100, -1, 0.5F, 2};
  EXPECT_THAT(difference("raw", {2, 2, 2}, {}, {stale, b, product, positive}),
              HasSubstr("result 1: at index [0,0] expected a standard normal sample"));
}

TEST(MetalReference, InputsDependOnSeedAndStreamAlone) {
  const Recipe recipe = recipe_of("linear", {8, 64, 32});
  EXPECT_EQ(make_inputs(recipe, 7, 2), make_inputs(recipe, 7, 2));
  EXPECT_NE(make_inputs(recipe, 7, 2), make_inputs(recipe, 7, 4));
  EXPECT_NE(make_inputs(recipe, 7, 2), make_inputs(recipe, 8, 2));
  const std::vector<Numbers> parameters = make_parameters(recipe, 7, 0);
  ASSERT_EQ(parameters.size(), 2U);
  EXPECT_EQ(parameters[0].size(), 64U * 32U);
  for (const float each : parameters[0]) EXPECT_LE(std::abs(each), 1.0F / 8);
}

// On a Mac there are no profiles to ask for, and no defects.
#ifdef __APPLE__
constexpr bool kSimulated = false;
const std::string kProfile;
#else
constexpr bool kSimulated = true;
const std::string kProfile = "/profile=clean";
#endif

TEST(MetalProgram, RefusesWhatItDoesNotHaveAndSaysWhatItHas) {
  const std::unique_ptr<WorkerProgram> program = make_metal_program();
  const auto refusal = [&](const std::string& text) -> std::string {
    try {
      program->make_workload(parse_cell(text + kProfile), 1);
    } catch (const UnsupportedError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("metal/linear/graph/threads=2"), "");
  EXPECT_THAT(refusal("metal/mlp/default"), HasSubstr("linear, mm, add"));
  EXPECT_THAT(refusal("metal/mm/graph"), HasSubstr("path=default"));
  EXPECT_THAT(refusal("metal/mm/default/dtype=float16"), HasSubstr("float32 alone"));
  EXPECT_THAT(refusal("metal/mm/default/stream=per-thread"), HasSubstr("queue="));
  EXPECT_THAT(refusal("metal/mm/default/shape=8x8"), HasSubstr("3 are needed"));
  EXPECT_THAT(refusal("cpu/mm/default"), HasSubstr("mpsprobe-worker"));
}

// What tells a hung device from hung threads.
TEST(MetalProgram, TheProbeIsAnsweredWhereTheMainThreadMadeTheDevice) {
  const std::unique_ptr<WorkerProgram> program = make_metal_program();
  for (const char* init : {"main", "threads"}) {
    const Cell cell = parse_cell("metal/mm/default/threads=2/init=" + std::string(init) + kProfile);
    const std::unique_ptr<Workload> workload = program->make_workload(cell, 1);
    workload->touch_device();
    int submitted = 0;
    const Probe answer = workload->probe([&submitted] { ++submitted; });
    EXPECT_EQ(answer, cell.init == Init::main ? Probe::completed : Probe::impossible);
    EXPECT_EQ(submitted, cell.init == Init::main ? 1 : 0);
  }
}

TEST(MetalProgram, SaysThatItIsSimulatedWhereItIs) {
  const nlohmann::json answer = make_metal_program()->describe();
  EXPECT_EQ(answer.at("backends").at(0).at("simulated"), kSimulated);
  EXPECT_FALSE(answer.at("provenance").contains("torch"));
}

}  // namespace
}  // namespace mpsprobe::metal
