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

TEST(Variables, WhatChoosesCodeIsNoAxis) {
  const std::string cell = "mps/mm/default/threads=2/env.";
  for (const char* variable : {"LD_PRELOAD=evil.so",
                               "LD_LIBRARY_PATH=.",
                               "LD_AUDIT=evil.so",
                               "DYLD_INSERT_LIBRARIES=x",
                               "dyld_library_path=x",
                               "GLIBC_TUNABLES=x",
                               "GCONV_PATH=x",
                               "PATH=x",
                               "IFS=x",
                               "ENV=x",
                               "BASH_ENV=x",
                               "PYTHONPATH=x",
                               "PYTHONSTARTUP=x",
                               "PERL5OPT=x",
                               "RUBYOPT=x",
                               "NODE_OPTIONS=x",
                               "JAVA_TOOL_OPTIONS=x",
                               "MALLOC_CONF=x",
                               "MallocStackLogging=1",
                               "_RJEM_MALLOC_CONF=x",
                               "ASAN_OPTIONS=x",
                               "OPENSSL_CONF=x",
                               "OMP_TOOL_LIBRARIES=x",
                               "CUDA_INJECTION64_PATH=x",
                               "CUDA_CACHE_PATH=x",
                               "MLX_METAL_PATH=x",
                               "PYTORCH_KERNEL_CACHE_PATH=x",
                               "TORCHINDUCTOR_CACHE_DIR=x",
                               "TRITON_PTXAS_PATH=x",
                               "INTEL_LIBITTNOTIFY64=x",
                               "PYTORCH_TUNABLEOP_FILENAME=x",
                               "NCCL_NET_PLUGIN=x",
                               "CC=x",
                               "PYTORCH_NVCC=x",
                               "HOME=x",
                               "TMPDIR=x",
                               "VK_ICD_FILENAMES=x",
                               "QT_PRELOAD=x"}) {
    EXPECT_THAT(refusal_of(cell + variable), HasSubstr("which no cell may do")) << variable;
  }
  for (const char* value : {"evil.so", "evil.so.1.2", "a:evil.dylib", ".", "..", "x:..", ".hidden",
                            "kernels.metallib", "x.PY", "a:."}) {
    EXPECT_THAT(refusal_of(cell + "A=" + value), HasSubstr("file of code")) << value;
  }
  // What people ask about libraries under test.
  for (const char* variable :
       {"PYTORCH_MPS_FAST_MATH=1", "MPS_FORCE_GRAPH_PATH=1", "PYTORCH_CUDA_ALLOC_CONF=unset",
        "CUBLAS_WORKSPACE_CONFIG=:4096:8", "OMP_NUM_THREADS=1", "MLX_ENABLE_TF32=0",
        "ATEN_CPU_CAPABILITY=default", "CUDA_LAUNCH_BLOCKING=1", "CUDA_MODULE_LOADING=LAZY",
        "PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0", "A=.5", "MTL_HUD_ENABLED=1", "KMP_BLOCKTIME=0"}) {
    EXPECT_EQ(refusal_of(cell + variable), "") << variable;
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
