#include <mlx/ops.h>

#include "scenarios/mlx/mlx_operation.h"

// One piece of work, sum(tanh(x @ w)), by each of the ways in which MLX is asked to compute.

namespace mpsprobe {
namespace {

namespace mx = ::mlx::core;

constexpr std::string_view kShape = "16x16x16";
constexpr std::string_view kDimensions = "rows x inner x columns";
constexpr std::string_view kParts[] = {"mm", "sum"};
constexpr std::string_view kChain[] = {"chain"};

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

constexpr MlxOperation way(std::string_view name, std::string_view summary, std::string_view source,
                           Evaluation evaluation, std::span<const std::string_view> made_of) {
  return {.name = name,
          .summary = summary,
          .source = source,
          .shape = kShape,
          .dimensions = kDimensions,
          .rounding = Rounding::accumulated,
          .evaluation = evaluation,
          .made_of = made_of,
          .terms = terms,
          .inputs = input,
          .parameters = weight,
          .run = chain};
}

const MlxOperation kLazyOperations[] = {
    way("chain", "mx.eval(sum(tanh(x @ w)))", "ml-explore/mlx#3078", Evaluation::waits, kParts),
    way("async_eval", "mx.async_eval of the chain; synchronise waits", "ml-explore/mlx#3078",
        Evaluation::async, kChain),
    way("lazy", "the same lazy chain evaluated by all threads", "ml-explore/mlx#3727",
        Evaluation::shared, kChain),
    way("compiled", "mx.compile of the chain, one function for all threads", "ml-explore/mlx#3078",
        Evaluation::compiled, kChain),
};

}  // namespace

std::span<const MlxOperation> mlx_lazy_operations() {
  return kLazyOperations;
}

}  // namespace mpsprobe
