#include "reproducers/emit/recipes.h"

#include <algorithm>
#include <iterator>

// The same calls as in scenarios/operations, scenarios/models and scenarios/metal, written out for
// people. Random weights are scaled so that results stay near one, as there.

namespace mpsprobe {
namespace {

constexpr std::string_view kWeights = "weight = at::randn({$2, $1}) / $R; bias = at::randn({$2})";
constexpr std::string_view kTrained =
    "weight = (at::randn({$2, $1}) / $R).requires_grad_(); bias = at::randn({$2}).requires_grad_()";
constexpr std::string_view kPacked =
    "weight = at::randn({3 * $2, $2}) / 16; bias = at::randn({3 * $2})";
constexpr std::string_view kUnary =
    "at::Tensor (*const unary[])(const at::Tensor&) = {\n"
    "    at::tanh, at::abs, at::sin, at::cos, at::tan, at::asin, at::acos, at::atan,\n"
    "    at::sqrt, at::rsqrt, at::neg, at::exp2, at::log10, at::log2, at::log};";

// A call that makes a tensor has no inputs.
constexpr Recipe maker(std::string_view op, std::string_view shape, std::string_view call) {
  return {.op = op, .shape = shape, .inputs = "", .call = call};
}

constexpr Recipe kRecipes[] = {
    maker("empty", "100x100", "at::empty({$S}, on)"),
    maker("zeros", "100x100", "at::zeros({$S}, on)"),
    maker("ones", "100x100", "at::ones({$S}, on)"),
    maker("full", "100x100", "at::full({$S}, 3, on)"),
    {.op = "randn", .inputs = "", .call = "at::randn({$S}, on)", .random = true},
    maker("arange", "1024", "at::arange($0, on)"),
    maker("linspace", "1024", "at::linspace(-1, 1, $0, on)"),
    maker("range", "1024", "at::range(1, $0, on)"),
    maker("logspace", "1024", "at::logspace(-1, 1, $0, 10, on)"),
    maker("eye", "64", "at::eye($0, on)"),
    {.op = "add",
     .shape = "100x100",
     .inputs = "a = at::randn({$S}); b = at::randn({$S})",
     .call = "at::add(a, b)",
     .graph_inputs = "$S; $S",
     .graph_result = "$S",
     .graph_build = "[graph additionWithPrimaryTensor:in0 secondaryTensor:in1 name:nil]",
     .graph_expected = "x + 1"},
    {.op = "mul",
     .shape = "100x100",
     .inputs = "a = at::randn({$S}); b = at::randn({$S})",
     .call = "at::mul(a, b)"},
    {.op = "relu",
     .call = "at::relu(x)",
     .graph_inputs = "$S",
     .graph_result = "$S",
     .graph_build = "[graph reLUWithTensor:in0 name:nil]",
     .graph_input = "i % 2 == 0 ? x : -x",
     .graph_expected = "i % 2 == 0 ? x : 0"},
    {.op = "gelu", .call = "at::gelu(x)"},
    {.op = "softmax",
     .call = "at::softmax(x, -1)",
     .graph_inputs = "$S",
     .graph_result = "$S",
     .graph_build = "[graph softMaxWithTensor:in0 axis:-1 name:nil]",
     .graph_input = "i % $L == 0 ? x / 4 : 0",
     .graph_expected = "(i % $L == 0 ? std::exp(x / 4) : 1) / (std::exp(x / 4) + $L - 1)"},
    {.op = "layer_norm",
     .shape = "8x64",
     .weights = "weight = at::rand({$L}) + 0.5; bias = at::randn({$L})",
     .call = "at::layer_norm(x, {$L}, weight, bias)",
     .python = "torch.nn.functional.layer_norm(x, [$L], weight, bias)"},
    {.op = "batch_norm",
     .shape = "8x16x32",
     .weights = "weight = at::rand({$1}) + 0.5; bias = at::randn({$1}); mean = at::randn({$1}); "
                "variance = at::rand({$1}) + 0.5",
     .call = "at::batch_norm(x, weight, bias, mean, variance, false, 0.1, 1e-5, false)",
     .python = "torch.nn.functional.batch_norm(x, mean, variance, weight, bias)"},
    {.op = "sdpa",
     .shape = "2x4x16x16",
     .inputs = "q = at::randn({$S}); k = at::randn({$S}); v = at::randn({$S})",
     .call = "at::scaled_dot_product_attention(q, k, v)"},
    {.op = "attention",
     .shape = "2x16x32x4",
     .inputs = "x = at::randn({$0, $1, $2})",
     .weights = kPacked,
     .call = "[&] {\n  const at::Tensor packed = at::linear(x, weight, bias).unflatten(-1, {3, "
             "$2})\n      .unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous();\n"
             "  const auto heads = [&](int64_t i) {\n    return packed.select(0, i).view({$0, $1, "
             "$3, -1}).transpose(1, 2);\n  };\n"
             "  return at::scaled_dot_product_attention(heads(0), heads(1), heads(2));\n}()",
     .python = "torch.nn.functional.scaled_dot_product_attention(*(each.view($0, $1, $3, "
               "-1).transpose(1, 2) for each in torch.nn.functional.linear(x, weight, "
               "bias).unflatten(-1, (3, $2)).unsqueeze(0).transpose(0, -2).squeeze(-2)"
               ".contiguous()))",
     .linear = true},
    {.op = "attention_strided",
     .shape = "2x16x32x4",
     .inputs = "x = at::randn({$0, $1, $2})",
     .weights = kPacked,
     .call = "[&] {\n  const at::Tensor packed = at::linear(x, weight, bias).unflatten(-1, {3, "
             "$2})\n      .unsqueeze(0).transpose(0, -2).squeeze(-2);\n"
             "  const auto heads = [&](int64_t i) {\n    return packed.select(0, i).reshape({$0, "
             "$1, $3, -1}).transpose(1, 2);\n  };\n"
             "  return at::scaled_dot_product_attention(heads(0), heads(1), heads(2));\n}()",
     .python = "torch.nn.functional.scaled_dot_product_attention(*(each.reshape($0, $1, $3, "
               "-1).transpose(1, 2) for each in torch.nn.functional.linear(x, weight, "
               "bias).unflatten(-1, (3, $2)).unsqueeze(0).transpose(0, -2).squeeze(-2)))",
     .linear = true},
    {.op = "tanh", .call = "at::tanh(x)"},
    {.op = "renorm", .call = "at::renorm(x, 2, 0, 1)"},
    {.op = "householder_product",
     .shape = "33",
     .inputs = "a = at::eye($0) + at::eye($0).roll($0 / 2, 1); tau = at::randn({$0})",
     .call = "at::linalg_householder_product(a, tau)",
     .python = "torch.linalg.householder_product(a, tau)"},
    {.op = "sum", .call = "at::sum(x)"},
    {.op = "nonzero",
     .shape = "32x32",
     .inputs = "x = at::relu(at::randn({$S}))",
     .call = "at::nonzero(x)"},
    {.op = "mm",
     .shape = "64x64x64",
     .inputs = "a = at::randn({$0, $1}); b = at::randn({$1, $2}) / $R",
     .call = "at::mm(a, b)",
     .graph_inputs = "$0, $1; $1, $2",
     .graph_result = "$0, $2",
     .graph_build =
         "[graph matrixMultiplicationWithPrimaryTensor:in0 secondaryTensor:in1 name:nil]",
     .graph_expected = "$1 * x"},
    {.op = "bmm",
     .shape = "4x16x32x16",
     .inputs = "a = at::randn({$0, $1, $2}); b = at::randn({$0, $2, $3}) / 8",
     .call = "at::bmm(a, b)"},
    {.op = "matmul",
     .shape = "64x64x64",
     .inputs = "a = at::randn({$0, $1}); b = at::randn({$1, $2}) / $R",
     .call = "at::matmul(a, b)"},
    {.op = "addmm",
     .shape = "8x64x64",
     .inputs = "x = at::randn({$0, $1})",
     .weights = kWeights,
     .call = "at::addmm(bias, x, weight.t())"},
    {.op = "matmul_bias",
     .shape = "8x64x64",
     .inputs = "x = at::randn({$0, $1})",
     .weights = kWeights,
     .call = "at::matmul(x, weight.t()) + bias"},
    {.op = "linear",
     .shape = "8x64x64",
     .inputs = "x = at::randn({$0, $1})",
     .weights = kWeights,
     .call = "at::linear(x, weight, bias)",
     .linear = true,
     .graph_inputs = "$0, $1; $2, $1; $2",
     .graph_result = "$0, $2",
     .graph_build =
         "[graph additionWithPrimaryTensor:[graph matrixMultiplicationWithPrimaryTensor:in0\n"
         "                                    secondaryTensor:[graph transposeTensor:in1 "
         "dimension:0 withDimension:1 name:nil]\n"
         "                                    name:nil] secondaryTensor:in2 name:nil]",
     .graph_expected = "$1 * x + 1"},
    {.op = "linear_module",
     .shape = "8x64x64",
     .inputs = "x = at::randn({$0, $1})",
     .weights = kTrained,
     .call = "at::linear(x, weight, bias)",
     .linear = true},
    {.op = "mlp",
     .shape = "8x64x128x64",
     .inputs = "x = at::randn({$0, $1})",
     .weights =
         "weight1 = (at::randn({$2, $1}) / $R).requires_grad_(); bias1 = "
         "at::randn({$2}).requires_grad_(); weight2 = (at::randn({$3, $2}) / $R).requires_grad_(); "
         "bias2 = at::randn({$3}).requires_grad_()",
     .call = "at::linear(at::relu(at::linear(x, weight1, bias1)), weight2, bias2)",
     .linear = true},
    {.op = "conv1d",
     .shape = "2x4x8x64x3",
     .inputs = "x = at::randn({$0, $1, $3})",
     .weights = "weight = (at::randn({$2, $1, $4}) / $R).requires_grad_(); bias = "
                "at::randn({$2}).requires_grad_()",
     .call = "at::conv1d(x, weight, bias)"},
    {.op = "conv2d",
     .shape = "2x3x8x16x16x3",
     .inputs = "x = at::randn({$0, $1, $3, $4})",
     .weights = "weight = (at::randn({$2, $1, $5, $5}) / $R).requires_grad_(); bias = "
                "at::randn({$2}).requires_grad_()",
     .call = "at::conv2d(x, weight, bias)"},
    {.op = "raw",
     .shape = "64x64x64",
     .inputs = "",
     .call = "at::relu(at::mm(at::randn({$0, $1}, on), at::randn({$1, $2}, on)))",
     .random = true},
    {.op = "unary_mix",
     .inputs = "",
     .weights = "x = at::rand({$S}) * 0.8 + 0.1",
     .call = "unary[t % 15](x)",
     .python = "-",
     .setup = kUnary},
    {.op = "range_mix",
     .shape = "1024",
     .inputs = "",
     .call = "at::sum(at::arange($0, on)) + at::sum(at::linspace(0, 1, $0, on)) +\n    "
             "at::sum(at::arange($0, on.dtype(at::kHalf)))",
     .python = "-"},
};

}  // namespace

const Recipe* find_recipe(std::string_view op) {
  const auto* const found = std::find_if(std::begin(kRecipes), std::end(kRecipes),
                                         [&](const Recipe& recipe) { return recipe.op == op; });
  return found == std::end(kRecipes) ? nullptr : found;
}

}  // namespace mpsprobe
