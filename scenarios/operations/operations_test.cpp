#include <ATen/core/Tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "harness/wire/axis.h"
#include "scenarios/backends/backend.h"
#include "scenarios/operations/sizes.h"
#include "scenarios/operations/torch_workload.h"

namespace mpsprobe {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Cell cpu_cell(std::string_view op) {
  Cell cell;
  cell.backend = Backend::cpu;
  cell.op = op;
  return cell;
}

void expect_clean(const Cell& cell) {
  SCOPED_TRACE(to_string(cell));
  TorchWorkload workload(*find_operation(cell.op), cell, 7, open_device(cell));
  workload.touch_device();
  for (int thread = 0; thread < 2; ++thread) {
    const std::unique_ptr<Lane> lane = workload.make_lane(thread);
    lane->enter();
    for (int iteration = 0; iteration < 3; ++iteration) {
      lane->launch(iteration);
      lane->synchronise();
    }
    const CheckResult result = lane->check();
    EXPECT_EQ(result.checked, 3u);
    EXPECT_EQ(result.unchecked, 0u);
    EXPECT_EQ(result.wrong_iteration, -1) << result.difference;
  }
}

TEST(Operations, EveryPathAndTypeOfEveryOperationIsCleanOnTheCpu) {
  for (const Operation* operation : operations()) {
    if (operation->only_on.value_or(Backend::cpu) != Backend::cpu) {
      continue;
    }
    Cell cell = cpu_cell(operation->name);
    for (const Path path : {Path::automatic, Path::nograph, Path::graph}) {
      if (path != Path::automatic && !operation->ends_in_linear) {
        continue;
      }
      cell.path = path;
      cell.dtype = "default";
      expect_clean(cell);
      for (const at::ScalarType type : operation->dtypes) {
        cell.dtype = name_of(type);
        expect_clean(cell);
      }
    }
  }
}

TEST(Operations, LargerShapesAreCleanOnTheCpu) {
  for (const auto& [op, shape] : std::initializer_list<std::pair<const char*, const char*>>{
           {"linear", "16x2048x256"},
           {"mlp", "16x512x1024x64"},
           {"mm", "64x2048x64"},
           {"raw", "64x1024x64"},
           {"sum", "512x512"},
           {"softmax", "3x5x700"},
           {"conv2d", "2x32x8x20x20x5"},
           {"bmm", "3x64x1024x33"},
           {"sdpa", "2x3x150x64"},
           {"attention", "4x128x256x4"},
           {"attention_strided", "4x128x256x4"},
           {"batch_norm", "5x33x1000"},
           {"mlp3", "16x512x1024x64"},
           {"conv_stack", "4x64x256x5"},
           {"conv_net", "2x3x32x20x20x5"},
           {"model_mix", "16x512x7"},
           {"transformer_encoder", "33x3x96x8x200x6"},
           {"transformer_layer", "33x3x96x8x200"}}) {
    for (const char* dtype : {"float32", "float16", "bfloat16"}) {
      Cell cell = cpu_cell(op);
      cell.shape = shape;
      cell.dtype = dtype;
      expect_clean(cell);
    }
  }
}

TEST(Operations, EachThreadMayHaveAShapeOfItsOwn) {
  for (const Operation* operation : operations()) {
    Cell cell = cpu_cell(operation->name);
    cell.shapes = Shapes::per_thread;
    const bool other = operation->only_on.value_or(Backend::cpu) != Backend::cpu;
    if (!other && operation->shape.find('x') != std::string_view::npos) expect_clean(cell);
  }
  Cell cell = cpu_cell("mm");
  cell.shape = "64x32x16";
  cell.shapes = Shapes::per_thread;
  const TorchWorkload workload(*find_operation("mm"), cell, 7, open_device(cell));
  EXPECT_EQ(workload.sizes_for(0), (Sizes{64, 32, 16}));
  EXPECT_EQ(workload.sizes_for(3), (Sizes{85, 32, 16}));
}

TEST(Operations, TheTableHasEveryOperationOfTheMatrixOnce) {
  std::set<std::string_view> names;
  for (const Operation* operation : operations()) {
    EXPECT_TRUE(names.insert(operation->name).second) << operation->name << " is there twice";
    EXPECT_EQ(find_operation(operation->name), operation);
    EXPECT_FALSE(operation->summary.empty()) << operation->name;
    EXPECT_FALSE(operation->source.empty()) << operation->name;
    EXPECT_FALSE(operation->observed_as.empty()) << operation->name;
  }
  for (const char* name : {"empty",     "zeros",         "ones",
                           "full",      "randn",         "arange",
                           "linspace",  "add",           "mul",
                           "mm",        "matmul",        "relu",
                           "softmax",   "layer_norm",    "sum",
                           "nonzero",   "addmm",         "matmul_bias",
                           "linear",    "raw",           "unary_mix",
                           "range_mix", "linear_module", "mlp",
                           "conv1d",    "conv2d",        "transformer_layer"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  EXPECT_EQ(find_operation("Linear"), nullptr);
}

std::string refusal(Cell cell) {
  try {
    TorchWorkload(*find_operation(cell.op), cell, 1, open_device(cell));
  } catch (const UnsupportedError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Operations, WrongShapesAreRefusedWithTheForm) {
  Cell cell = cpu_cell("linear");
  for (const char* shape : {"8x64", "8x64x64x1", "8x0x64", "8x-1x64", "8xx64", "x", "8x64x", "",
                            "8x64x64 ", "99999999999999999999x1x1", "65536x65536x2", "8X64X64"}) {
    cell.shape = shape;
    EXPECT_THAT(refusal(cell), AllOf(HasSubstr("batch x in x out"), HasSubstr("8x64x64"))) << shape;
  }
  cell.shape = "1x1x1";
  EXPECT_EQ(refusal(cell), "accepted");
  cell = cpu_cell("conv1d");
  cell.shape = "1x1x1x2x3";
  EXPECT_THAT(refusal(cell), HasSubstr("kernel is longer"));
  cell = cpu_cell("transformer_layer");
  cell.shape = "8x2x32x5x64";
  EXPECT_THAT(refusal(cell), HasSubstr("multiple of the number of heads"));
  cell = cpu_cell("zeros");
  cell.shape = "1x1x1x1x1x1x1x1x1";
  EXPECT_THAT(refusal(cell), HasSubstr("more than 8 sizes"));
}

TEST(Operations, WrongTypesAreRefusedWithThePossibleOnes) {
  Cell cell = cpu_cell("linear");
  cell.dtype = "int32";
  EXPECT_THAT(refusal(cell), HasSubstr("float32, float16, bfloat16"));
  cell = cpu_cell("range_mix");
  cell.dtype = "float16";
  EXPECT_THAT(refusal(cell), HasSubstr("dtype at its default"));
}

TEST(Operations, PartsAreOperationsThemselves) {
  for (const Operation* operation : operations()) {
    for (const std::string_view part : operation->made_of) {
      EXPECT_NE(find_operation(part), nullptr) << operation->name << " is made of " << part;
      EXPECT_NE(part, operation->name);
    }
  }
}

TEST(Operations, OnlyLinearKnowsPaths) {
  Cell cell = cpu_cell("mm");
  cell.path = Path::graph;
  EXPECT_THAT(refusal(cell), AllOf(HasSubstr("path=graph"), HasSubstr("aten::linear")));
}

TEST(Operations, GraphPathHasTheSameWeightsInAnotherLayout) {
  for (const Operation* operation : operations()) {
    if (!operation->ends_in_linear) {
      continue;
    }
    Cell cell = cpu_cell(operation->name);
    cell.path = Path::nograph;
    TorchWorkload contiguous(*operation, cell, 3, open_device(cell));
    cell.path = Path::graph;
    TorchWorkload transposed(*operation, cell, 3, open_device(cell));
    const auto& a = contiguous.parameters_for(0)->device;
    const auto& b = transposed.parameters_for(0)->device;
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_TRUE(a[i].is_contiguous());
      EXPECT_EQ(b[i].is_contiguous(), b[i].dim() != 2) << operation->name << " parameter " << i;
      EXPECT_TRUE(a[i].equal(b[i])) << operation->name << " parameter " << i;
      EXPECT_EQ(a[i].requires_grad(), operation->records_gradient);
    }
  }
}

}  // namespace
}  // namespace mpsprobe
