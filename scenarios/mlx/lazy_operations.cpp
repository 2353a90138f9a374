#include <mlx/compile.h>
#include <mlx/ops.h>
#include <mlx/transforms.h>

#include <utility>

#include "scenarios/mlx/mlx_operation.h"

// One piece of work, sum(tanh(x @ w)), by each of the ways in which MLX is asked to compute.

namespace mpsprobe {
namespace {

namespace mx = ::mlx::core;

constexpr std::string_view kShape = "16x16x16";
constexpr std::string_view kDimensions = "rows x inner x columns";

// tanh is at most one; what it gets is a sum of `inner` products, and what it gives is summed.
int64_t terms(const Sizes& sizes) {
  return sizes[0] * sizes[2];
}

std::vector<HostArray> input(Numbers& numbers, const Sizes& sizes) {
  return {numbers.normal({sizes[0], sizes[1]})};
}

std::vector<HostArray> weight(Numbers& numbers, const Sizes& sizes) {
  return {numbers.uniform({sizes[1], sizes[2]}, -0.25, 0.25)};
}

Arrays chain(const MlxCall& call) {
  const mx::array product = mx::matmul(call.inputs[0], call.parameters[0], call.stream);
  return {mx::sum(mx::tanh(product, call.stream), call.stream)};
}

constexpr std::string_view kTransforms[] = {"gradient", "vmap", "compile"};

// Traced anew in each launch, as a program does that makes its function where it needs it.
Arrays transform(const MlxCall& call) {
  using Function = std::function<Arrays(const Arrays&)>;
  const Function whole = [&call](const Arrays& given) {
    return chain({call.sizes, {given[0]}, call.parameters, call.stream});
  };
  switch (call.variant % 3) {
    case 0: {
      const auto one = [&whole](const mx::array& x) { return whole({x})[0]; };
      return {mx::grad(one)(call.inputs[0])};
    }
    case 1: {
      const Function row = [&call](const Arrays& given) -> Arrays {
        const mx::array lifted = mx::expand_dims(given[0], 0, call.stream);
        return {mx::sum(mx::tanh(mx::matmul(lifted, call.parameters[0], call.stream), call.stream),
                        call.stream)};
      };
      return mx::vmap(row)(call.inputs);
    }
    default:
      return mx::compile(whole)(call.inputs);
  }
}

MlxOperation way(std::string_view name, std::string_view summary, std::string_view source,
                 Evaluation evaluation, std::vector<std::string_view> made_of = {"chain"}) {
  return {.name = name,
          .summary = summary,
          .source = source,
          .shape = kShape,
          .dimensions = kDimensions,
          .rounding = Rounding::accumulated,
          .evaluation = evaluation,
          .made_of = std::move(made_of),
          .terms = terms,
          .inputs = input,
          .parameters = weight,
          .run = chain};
}

const MlxOperation kLazyOperations[] = {
    way("chain", "mx.eval(sum(tanh(x @ w)))", "ml-explore/mlx#3078", Evaluation::waits,
        {"mm", "sum"}),
    way("async_eval", "mx.async_eval of the chain; synchronise waits", "ml-explore/mlx#3078",
        Evaluation::async),
    way("lazy", "the same lazy chain evaluated by all threads", "ml-explore/mlx#3727",
        Evaluation::shared),
    way("compiled", "mx.compile of the chain, one function for all threads", "ml-explore/mlx#3078",
        Evaluation::compiled),
    way("released", "mx.compile of the chain, after another function was released off its thread",
        "ml-explore/mlx#3940", Evaluation::released),
    {
        .name = "transforms",
        .summary = "gradient, vmap and compile of the chain: thread k does the k-th",
        .source = "ml-explore/mlx#3638",
        .shape = kShape,
        .dimensions = kDimensions,
        .rounding = Rounding::accumulated,
        .made_of = {"chain"},
        .terms = [](const Sizes& sizes) { return sizes[0] * sizes[1] * sizes[2]; },
        .inputs = input,
        .parameters = weight,
        .variant_name = [](int variant) { return kTransforms[variant % 3]; },
        .run = transform,
    },
};

}  // namespace

std::span<const MlxOperation> mlx_lazy_operations() {
  return kLazyOperations;
}

}  // namespace mpsprobe
