#include <mlx/fast.h>
#include <mlx/ops.h>
#include <mlx/random.h>

#include <iterator>

#include "scenarios/mlx/arrays.h"
#include "scenarios/mlx/mlx_operation.h"

// Single calls and mixes of them, by the names that LibTorch's workers have.

namespace mpsprobe {
namespace {

namespace mx = ::mlx::core;

constexpr std::string_view kProduct = "rows x inner x columns";

int64_t inner(const Sizes& sizes) {
  return sizes[1];
}

std::vector<HostArray> factors(Numbers& numbers, const Sizes& sizes) {
  return {numbers.normal({sizes[0], sizes[1]}), numbers.normal({sizes[1], sizes[2]})};
}

std::vector<HostArray> one_normal(Numbers& numbers, const Sizes& sizes) {
  return {numbers.normal(sizes)};
}

std::vector<HostArray> two_normal(Numbers& numbers, const Sizes& sizes) {
  return {numbers.normal(sizes), numbers.normal(sizes)};
}

mx::array relu(const mx::array& x, mx::Stream stream) {
  return mx::maximum(x, mx::array(0.0F), stream);
}

struct Unary {
  std::string_view name;
  mx::array (*run)(const mx::array&, mx::StreamOrDevice);
};

// The functions of the mix on LibTorch, in its order: thread k runs number k.
constexpr Unary kUnary[] = {
    {"exp", mx::exp},     {"log", mx::log},   {"sqrt", mx::sqrt},
    {"rsqrt", mx::rsqrt}, {"sin", mx::sin},   {"cos", mx::cos},
    {"tan", mx::tan},     {"tanh", mx::tanh}, {"sigmoid", mx::sigmoid},
    {"erf", mx::erf},     {"abs", mx::abs},   {"neg", mx::negative},
    {"floor", mx::floor}, {"ceil", mx::ceil}, {"reciprocal", mx::reciprocal},
};
static_assert(std::size(kUnary) == 15);

const Unary& unary(int variant) {
  return kUnary[static_cast<size_t>(variant) % std::size(kUnary)];
}

Arrays ranges(const MlxCall& call) {
  const auto count = static_cast<int>(call.sizes[0]);
  Arrays results;
  for (const mx::Dtype type : {mx::float32, mx::float16, mx::int32}) {
    const mx::array counted = mx::arange(0.0, count, 1.0, type, call.stream);
    results.push_back(counted);
    if (type == mx::int32) {
      results.push_back(mx::sum(counted, call.stream));
      continue;
    }
    // From 0 to 1: the sum of float16 values stays far from 65504.
    results.push_back(mx::linspace(0, 1, count, type, call.stream));
    results.push_back(mx::sum(results.back(), call.stream));
  }
  return results;
}

const MlxOperation kSingleOperations[] = {
    {
        .name = "add",
        .summary = "mx.add(a, b)",
        .source = "report 004",
        .shape = "100x100",
        .rounding = Rounding::elementary,
        .inputs = two_normal,
        .run = [](const MlxCall& call) -> Arrays {
          return {mx::add(call.inputs[0], call.inputs[1], call.stream)};
        },
    },
    {
        .name = "mul",
        .summary = "mx.multiply(a, b)",
        .source = "report 004",
        .shape = "100x100",
        .rounding = Rounding::elementary,
        .inputs = two_normal,
        .run = [](const MlxCall& call) -> Arrays {
          return {mx::multiply(call.inputs[0], call.inputs[1], call.stream)};
        },
    },
    {
        .name = "mm",
        .summary = "mx.matmul(a, b)",
        .source = "report 002; the authors' mlx_threading_test",
        .shape = "64x64x64",
        .dimensions = kProduct,
        .rounding = Rounding::accumulated,
        .terms = inner,
        .inputs = factors,
        .run = [](const MlxCall& call) -> Arrays {
          return {mx::matmul(call.inputs[0], call.inputs[1], call.stream)};
        },
    },
    {
        .name = "relu",
        .summary = "mx.maximum(x, 0)",
        .source = "reports 000, 002",
        .shape = "64x64",
        .inputs = one_normal,
        .run = [](const MlxCall& call) -> Arrays { return {relu(call.inputs[0], call.stream)}; },
    },
    {
        .name = "softmax",
        .summary = "mx.softmax over the last dimension",
        .source = "report 002",
        .shape = "64x64",
        .rounding = Rounding::transcendental,
        .inputs = one_normal,
        .run = [](const MlxCall& call) -> Arrays {
          return {mx::softmax(call.inputs[0], std::vector<int>{-1}, false, call.stream)};
        },
    },
    {
        .name = "layer_norm",
        .summary = "mx.fast.layer_norm over the last dimension, with weight and bias",
        .source = "report 003",
        .shape = "8x64",
        .rounding = Rounding::transcendental,
        .inputs = one_normal,
        .parameters = [](Numbers& numbers, const Sizes& sizes) -> std::vector<HostArray> {
          return {numbers.uniform({sizes.back()}, 0.5, 1.5), numbers.normal({sizes.back()})};
        },
        .run = [](const MlxCall& call) -> Arrays {
          return {mx::fast::layer_norm(call.inputs[0], call.parameters[0], call.parameters[1],
                                       1e-5F, call.stream)};
        },
    },
    {
        .name = "sum",
        .summary = "mx.sum of all elements",
        .source = "pytorch/pytorch#197805",
        .shape = "64x64",
        .rounding = Rounding::accumulated,
        .terms = element_count,
        .inputs = one_normal,
        .run = [](const MlxCall& call) -> Arrays { return {mx::sum(call.inputs[0], call.stream)}; },
    },
    {
        .name = "arange",
        .summary = "mx.arange up to a count",
        .source = "pytorch/pytorch#197805",
        .shape = "1024",
        .dimensions = "count",
        .rounding = Rounding::elementary,
        .run = [](const MlxCall& call) -> Arrays {
          return {
              mx::arange(0.0, static_cast<double>(call.sizes[0]), 1.0, mx::float32, call.stream)};
        },
    },
    {
        .name = "linspace",
        .summary = "mx.linspace: a count of values from -1 to 1",
        .source = "pytorch/pytorch#197805",
        .shape = "1024",
        .dimensions = "count",
        .rounding = Rounding::elementary,
        .run = [](const MlxCall& call) -> Arrays {
          return {mx::linspace(-1, 1, static_cast<int>(call.sizes[0]), mx::float32, call.stream)};
        },
    },
    {
        .name = "randn",
        .summary = "mx.random.normal, with MLX's own keys",
        .source = "reports 002, 004",
        .shape = "64x64",
        .verify = MlxVerify::normal,
        .run = [](const MlxCall& call) -> Arrays {
          return {mx::random::normal(shape_of(call.sizes), mx::float32, 0, 1, std::nullopt,
                                     call.stream)};
        },
    },
    {
        .name = "draws",
        .summary = "as randn; no two threads may draw the same numbers",
        .source = "ml-explore/mlx#4234",
        .shape = "64x64",
        .verify = MlxVerify::unlike,
        .run = [](const MlxCall& call) -> Arrays {
          return {mx::random::normal(shape_of(call.sizes), mx::float32, 0, 1, std::nullopt,
                                     call.stream)};
        },
    },
    {
        .name = "raw",
        .summary = "random, random, matmul, relu: the reports' raw tensor operations",
        .source = "reports 000, 002",
        .shape = "64x64x64",
        .dimensions = kProduct,
        .rounding = Rounding::accumulated,
        .verify = MlxVerify::raw,
        .made_of = {"randn", "mm", "relu"},
        .terms = inner,
        .run = [](const MlxCall& call) -> Arrays {
          const auto normal = [&call](int64_t rows, int64_t columns) {
            return mx::random::normal(shape_of({rows, columns}), mx::float32, 0, 1, std::nullopt,
                                      call.stream);
          };
          const mx::array a = normal(call.sizes[0], call.sizes[1]);
          const mx::array b = normal(call.sizes[1], call.sizes[2]);
          return {a, b, relu(mx::matmul(a, b, call.stream), call.stream)};
        },
    },
    {
        .name = "unary_mix",
        .summary = "15 different unary functions at once, thread k runs the k-th",
        .source = "pytorch/pytorch#167541",
        .shape = "64x64",
        .rounding = Rounding::transcendental,
        // Where all fifteen are defined and well conditioned.
        .inputs = [](Numbers& numbers, const Sizes& sizes) -> std::vector<HostArray> {
          return {numbers.uniform(sizes, 0.25, 1.25)};
        },
        .variant_name = [](int variant) { return unary(variant).name; },
        .run = [](const MlxCall& call) -> Arrays {
          return {unary(call.variant).run(call.inputs[0], call.stream)};
        },
    },
    {
        .name = "range_mix",
        .summary = "arange, linspace and sum in float32, float16 and int32",
        .source = "pytorch/pytorch#197805",
        .shape = "1024",
        .dimensions = "count",
        .rounding = Rounding::accumulated,
        .made_of = {"arange", "linspace", "sum"},
        .refuse = [](const Sizes& sizes) -> std::string_view {
          return sizes[0] > 2048 ? "float16 cannot count beyond 2048" : "";
        },
        .terms = [](const Sizes& sizes) { return sizes[0]; },
        .run = ranges,
    },
};

}  // namespace

std::span<const MlxOperation> mlx_single_operations() {
  return kSingleOperations;
}

}  // namespace mpsprobe
