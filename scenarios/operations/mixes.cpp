#include <ATen/ops/abs.h>
#include <ATen/ops/acos.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/asin.h>
#include <ATen/ops/atan.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/exp2.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/log.h>
#include <ATen/ops/log10.h>
#include <ATen/ops/log2.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/tan.h>
#include <ATen/ops/tanh.h>

#include <iterator>

#include "scenarios/operations/operation.h"
#include "scenarios/threads/meeting.h"

// Several different calls in one operation, as the reports and issues ran them.

namespace mpsprobe {
namespace {

struct Unary {
  std::string_view name;
  at::Tensor (*run)(const at::Tensor&);
};

// The fifteen of the issue, in its order: thread k runs number k, so that fifteen threads compile
// fifteen different kernels at once.
constexpr Unary kUnary[] = {
    {"tanh", [](const at::Tensor& x) { return at::tanh(x); }},
    {"abs", [](const at::Tensor& x) { return at::abs(x); }},
    {"sin", [](const at::Tensor& x) { return at::sin(x); }},
    {"cos", [](const at::Tensor& x) { return at::cos(x); }},
    {"tan", [](const at::Tensor& x) { return at::tan(x); }},
    {"asin", [](const at::Tensor& x) { return at::asin(x); }},
    {"acos", [](const at::Tensor& x) { return at::acos(x); }},
    {"atan", [](const at::Tensor& x) { return at::atan(x); }},
    {"sqrt", [](const at::Tensor& x) { return at::sqrt(x); }},
    {"rsqrt", [](const at::Tensor& x) { return at::rsqrt(x); }},
    {"neg", [](const at::Tensor& x) { return at::neg(x); }},
    {"exp2", [](const at::Tensor& x) { return at::exp2(x); }},
    {"log10", [](const at::Tensor& x) { return at::log10(x); }},
    {"log2", [](const at::Tensor& x) { return at::log2(x); }},
    {"log", [](const at::Tensor& x) { return at::log(x); }},
};
static_assert(std::size(kUnary) == 15);

const Unary& unary(int variant) {
  return kUnary[static_cast<size_t>(variant) % std::size(kUnary)];
}

// float16 counts exactly up to 2048, so that arange and its sum mean the same everywhere.
std::string_view refuse_long_range(const Sizes& sizes) {
  return sizes[0] > 2048 ? "float16 cannot count beyond 2048" : "";
}

Tensors ranges(const Call& call) {
  const int64_t count = call.sizes[0];
  // The reference asks for a wide type and so gets all three in it; exactness of the integers is
  // judged by the type of the result under test.
  const bool wide = call.options.dtype() == at::kDouble;
  Tensors results;
  for (const at::ScalarType type : {at::kFloat, at::kHalf, at::kInt}) {
    const at::TensorOptions options = call.options.dtype(wide ? at::kDouble : type);
    const at::Tensor counted = at::arange(count, options);
    results.push_back(counted);
    if (type != at::kInt) {
      // From 0 to 1: the sum of float16 values stays far from 65504.
      const at::Tensor spaced = at::linspace(0, 1, count, options);
      results.push_back(spaced);
      results.push_back(at::sum(spaced));
    } else {
      results.push_back(at::sum(counted));
    }
  }
  return results;
}

const Operation kMixes[] = {
    {
        .name = "raw",
        .summary = "randn, randn, mm, relu: the reports' raw tensor operations",
        .source = "reports 000, 002",
        .shape = "64x64x64",
        .dimensions = "rows x inner x columns",
        .rounding = Rounding::accumulated,
        .verify = Verify::raw,
        .has_stages = true,
        .observed_as = {"aten::mm"},
        .made_of = {"randn", "mm", "relu"},
        .terms = [](const Sizes& sizes) { return sizes[1]; },
        .run = [](const Call& call) -> Tensors {
          const at::Tensor a = at::randn({call.sizes[0], call.sizes[1]}, call.options);
          const at::Tensor b = at::randn({call.sizes[1], call.sizes[2]}, call.options);
          end_of_stage();
          const at::Tensor product = at::mm(a, b);
          end_of_stage();
          return {a, b, at::relu(product)};
        },
    },
    {
        .name = "unary_mix",
        .summary = "15 different unary functions of one tensor at once, thread k runs the k-th",
        .source = "pytorch/pytorch#167541",
        .shape = "64x64",
        .rounding = Rounding::transcendental,
        .observed_as = {"aten::tanh"},
        // Where all fifteen are defined and well conditioned.
        // A parameter, so that all threads share it, as in the issue, unless model=per-thread.
        .parameters = [](Random& random, const Sizes& sizes) -> Tensors {
          return {random.uniform(sizes, 0.1, 0.9)};
        },
        .variant_name = [](int variant) { return unary(variant).name; },
        .run = [](const Call& call) -> Tensors {
          return {unary(call.variant).run(call.parameters[0])};
        },
    },
    {
        .name = "range_mix",
        .summary = "arange, linspace and sum in float32, float16 and int32",
        .source = "pytorch/pytorch#197805",
        .shape = "1024",
        .dimensions = "count",
        .dtypes = {},
        .rounding = Rounding::accumulated,
        .observed_as = {"aten::arange"},
        .made_of = {"arange", "linspace", "sum"},
        .refuse = refuse_long_range,
        .terms = [](const Sizes& sizes) { return sizes[0]; },
        .run = ranges,
    },
};

}  // namespace

std::span<const Operation> mix_operations() {
  return kMixes;
}

}  // namespace mpsprobe
