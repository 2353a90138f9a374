#include "harness/wire/variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/input/input_error.h"
#include "harness/wire/axis.h"
#include "harness/wire/cell.h"

namespace mpsprobe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::string refusal_of(const std::string& cell) {
  try {
    parse_cell(cell);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Variables, ACellNamesEachInAPartOfItsOwn) {
  const Cell cell = parse_cell("mps/mm/default/env.B=unset/threads=2/env.A=0.5");
  EXPECT_THAT(parse_variables(cell.env), ElementsAre(Pair("A", "0.5"), Pair("B", "unset")));
  EXPECT_EQ(to_string(cell), "mps/mm/default/threads=2/env.A=0.5/env.B=unset");
  EXPECT_EQ(parse_cell(to_string(cell)), cell);
}

TEST(Variables, WithoutAnyTheEnvironmentIsInherited) {
  EXPECT_TRUE(parse_variables(parse_cell("mps/mm/default/threads=2").env).empty());
  EXPECT_EQ(to_string(parse_cell("mps/mm/default/threads=2/env=inherited")),
            "mps/mm/default/threads=2");
}

TEST(Variables, WhatIsNoVariableIsRefusedWithTheRemedy) {
  const std::string cell = "mps/mm/default/threads=2/";
  EXPECT_THAT(refusal_of(cell + "env.A=0/env.A=1"), HasSubstr("A is given twice"));
  EXPECT_THAT(refusal_of(cell + "env.A"), HasSubstr("A has a value"));
  EXPECT_THAT(refusal_of(cell + "env.A="), HasSubstr("A has a value"));
  EXPECT_THAT(refusal_of(cell + "env.A=$(x)"), HasSubstr("A has a value"));
  EXPECT_THAT(refusal_of(cell + "env.A=inherited"), HasSubstr("A has a value"));
  EXPECT_THAT(refusal_of(cell + "env.1A=0"), HasSubstr("no variable of that name"));
  EXPECT_THAT(refusal_of(cell + "env.=0"), HasSubstr("no variable of that name"));
  EXPECT_THAT(refusal_of(cell + "env.MPSPROBE_PROFILES=x"), HasSubstr("mpsprobe's own"));
  EXPECT_THAT(refusal_of(cell + "env.A=" + std::string(81, 'a')), HasSubstr("1 to 80"));
}

TEST(Variables, OfAStrangerOnlyDocumentedSwitchesAreTaken) {
  for (const char* name :
       {"PYTORCH_MPS_FAST_MATH", "MPS_FORCE_GRAPH_PATH", "CUBLAS_WORKSPACE_CONFIG",
        "OMP_NUM_THREADS", "MLX_ENABLE_TF32", "ATEN_CPU_CAPABILITY", "CUDA_LAUNCH_BLOCKING",
        "PYTORCH_MPS_HIGH_WATERMARK_RATIO", "MTL_DEBUG_LAYER", "MLX_USE_CUDA_GRAPHS"}) {
    EXPECT_TRUE(is_documented_switch(name)) << name;
  }
  for (const char* name :
       {"LD_PRELOAD", "PATH", "PYTEST_ADDOPTS", "HF_MODULES_CACHE", "pytorch_mps_fast_math",
        "PYTORCH_MPS_FAST_MATH ", "PYTORCH_MPS_FAST_MAT", "", " ", "MLX_METAL_PATH"}) {
    EXPECT_FALSE(is_documented_switch(name)) << name;
  }
}

TEST(Variables, ListsOfTwoMultiply) {
  const auto some = parse_variable_values("A", "inherited,1");
  EXPECT_THAT(combined(some, parse_variable_values("B", "0,unset")),
              ElementsAre("B=0", "B=unset", "A=1+B=0", "A=1+B=unset"));
  EXPECT_THROW(combined(some, some), InputError);
}

TEST(Variables, TablesSayEachByItsName) {
  const Axis& env = *find_axis("env");
  EXPECT_EQ(setting(env, "A=1+B=unset", ", "), "env.A=1, env.B=unset");
  EXPECT_EQ(setting(env, "inherited", ", "), "env=inherited");
  EXPECT_EQ(setting(*find_axis("lock"), "none", ", "), "lock=none");
}

}  // namespace
}  // namespace mpsprobe
