#include "scenarios/sim/operations.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace mpsprobe::sim {
namespace {

// Sorted by name: looked up by binary search (a test checks the order).
constexpr Operation kOperations[] = {
    {"_local_scalar_dense", "read_back", PathRule::blit},
    {"_log_softmax", "log_softmax", PathRule::graph},
    {"_softmax", "softmax", PathRule::graph},
    {"abs", "abs", PathRule::nograph},
    {"acos", "acos", PathRule::nograph},
    {"add", "add", PathRule::graph},
    {"add_", "add", PathRule::graph},
    {"addmm", "addmm", PathRule::by_setting},
    {"arange", "arange", PathRule::graph},
    {"argmax", "argmax", PathRule::graph},
    {"asin", "asin", PathRule::nograph},
    {"atan", "atan", PathRule::nograph},
    {"baddbmm", "baddbmm", PathRule::graph},
    {"batch_norm", "batch_norm", PathRule::graph},
    {"bmm", "bmm", PathRule::by_setting},
    {"cat", "cat", PathRule::graph},
    {"ceil", "ceil", PathRule::nograph},
    {"clone", "copy_", PathRule::blit},
    {"convolution", "convolution", PathRule::graph},
    {"copy_", "copy_", PathRule::blit},
    {"cos", "cos", PathRule::nograph},
    {"cosh", "cosh", PathRule::nograph},
    {"cumsum", "cumsum", PathRule::graph},
    {"div", "div", PathRule::graph},
    {"empty", "empty", PathRule::none},
    {"empty_like", "empty", PathRule::none},
    {"empty_strided", "empty", PathRule::none},
    {"erf", "erf", PathRule::nograph},
    {"exp", "exp", PathRule::nograph},
    {"exp2", "exp2", PathRule::nograph},
    {"expm1", "expm1", PathRule::nograph},
    {"eye", "eye", PathRule::nograph},
    {"fill_", "fill_", PathRule::graph},
    {"floor", "floor", PathRule::nograph},
    {"full", "fill_", PathRule::graph},
    {"gelu", "gelu", PathRule::graph},
    {"layer_norm", "layer_norm", PathRule::graph},
    {"linalg_householder_product", "linalg_householder_product", PathRule::nograph},
    {"linear", "linear", PathRule::by_layout},
    {"linspace", "linspace", PathRule::graph},
    {"log", "log", PathRule::nograph},
    {"log10", "log10", PathRule::nograph},
    {"log1p", "log1p", PathRule::nograph},
    {"log2", "log2", PathRule::nograph},
    {"logspace", "logspace", PathRule::nograph},
    {"max", "max", PathRule::graph},
    {"mean", "mean", PathRule::graph},
    {"min", "min", PathRule::graph},
    {"mm", "mm", PathRule::by_setting},
    {"mul", "mul", PathRule::graph},
    {"mul_", "mul", PathRule::graph},
    {"native_layer_norm", "layer_norm", PathRule::graph},
    {"neg", "neg", PathRule::nograph},
    {"nonzero", "nonzero", PathRule::graph},
    {"normal_", "normal_", PathRule::graph},
    {"ones", "fill_", PathRule::graph},
    {"ones_like", "fill_", PathRule::graph},
    {"pow", "pow", PathRule::graph},
    {"rand", "uniform_", PathRule::graph},
    {"randn", "normal_", PathRule::graph},
    {"randn_like", "normal_", PathRule::graph},
    {"range", "range", PathRule::nograph},
    {"reciprocal", "reciprocal", PathRule::nograph},
    {"relu", "relu", PathRule::graph},
    {"relu_", "relu", PathRule::graph},
    {"renorm", "renorm", PathRule::nograph},
    {"round", "round", PathRule::nograph},
    {"rsqrt", "rsqrt", PathRule::nograph},
    {"scaled_dot_product_attention", "scaled_dot_product_attention", PathRule::graph},
    {"sigmoid", "sigmoid", PathRule::nograph},
    {"sign", "sign", PathRule::nograph},
    {"silu", "silu", PathRule::graph},
    {"sin", "sin", PathRule::nograph},
    {"sinh", "sinh", PathRule::nograph},
    {"softmax", "softmax", PathRule::graph},
    {"sqrt", "sqrt", PathRule::nograph},
    {"square", "square", PathRule::nograph},
    {"sub", "sub", PathRule::graph},
    {"sum", "sum", PathRule::graph},
    {"tan", "tan", PathRule::nograph},
    {"tanh", "tanh", PathRule::nograph},
    {"trunc", "trunc", PathRule::nograph},
    {"uniform_", "uniform_", PathRule::graph},
    {"zero_", "zero_", PathRule::blit},
    {"zeros", "zero_", PathRule::blit},
    {"zeros_like", "zero_", PathRule::blit},
};

bool is_one(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::strcmp(value, "1") == 0;
}

}  // namespace

std::span<const Operation> operations() {
  return kOperations;
}

const Operation* find_operation(std::string_view aten_name) {
  constexpr std::string_view kPrefix = "aten::";
  if (aten_name.starts_with(kPrefix)) aten_name.remove_prefix(kPrefix.size());
  const auto* found = std::lower_bound(
      std::begin(kOperations), std::end(kOperations), aten_name,
      [](const Operation& operation, std::string_view name) { return operation.name < name; });
  return found != std::end(kOperations) && found->name == aten_name ? found : nullptr;
}

bool is_known_name(std::string_view name) {
  return std::any_of(std::begin(kOperations), std::end(kOperations),
                     [&](const Operation& op) { return op.name == name || op.kernel == name; });
}

PathSettings PathSettings::from_environment() {
  return {is_one("MPS_FORCE_GRAPH_PATH"), is_one("PYTORCH_MPS_PREFER_METAL")};
}

EncodePath choose_path(PathRule rule, const PathSettings& settings, bool all_contiguous) {
  switch (rule) {
    case PathRule::none:
      return EncodePath::none;
    case PathRule::blit:
      return EncodePath::blit;
    case PathRule::nograph:
      return EncodePath::nograph;
    case PathRule::graph:
      return EncodePath::graph;
    case PathRule::by_layout:
      return all_contiguous && !settings.force_graph ? EncodePath::nograph : EncodePath::graph;
    case PathRule::by_setting:
      return settings.prefer_metal ? EncodePath::nograph : EncodePath::graph;
  }
  return EncodePath::none;
}

}  // namespace mpsprobe::sim
