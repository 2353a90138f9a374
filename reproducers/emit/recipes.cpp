#include "reproducers/emit/recipes.h"

#include <algorithm>
#include <iterator>

// The same calls as in scenarios/operations, scenarios/models and scenarios/metal, written out for
// people. Random weights are scaled so that results stay near one, as there. An operation that
// makes a tensor gets an input of one element, which says where and of what type.

namespace mpsprobe {
namespace {

constexpr std::string_view kOne = "at::zeros({1})";

constexpr Recipe kRecipes[] = {
    {.op = "empty",
     .shape = "100x100",
     .inputs = kOne,
     .launch = "at::empty({$S}, x[0].options())",
     .expected = "",
     .python_launch = "torch.empty($S, dtype=x[0].dtype, device=x[0].device)",
     .python_right = "got.shape == ($S,)"},
    {.op = "zeros",
     .shape = "100x100",
     .inputs = kOne,
     .launch = "at::zeros({$S}, x[0].options())",
     .python_launch = "torch.zeros($S, dtype=x[0].dtype, device=x[0].device)"},
    {.op = "ones",
     .shape = "100x100",
     .inputs = kOne,
     .launch = "at::ones({$S}, x[0].options())",
     .python_launch = "torch.ones($S, dtype=x[0].dtype, device=x[0].device)"},
    {.op = "full",
     .shape = "100x100",
     .inputs = kOne,
     .launch = "at::full({$S}, 3, x[0].options())",
     .python_launch = "torch.full(($S,), 3, dtype=x[0].dtype, device=x[0].device)"},
    // Samples are compared with themselves moved to mean 0 and deviation 1, within 0.5.
    {.op = "randn",
     .inputs = kOne,
     .launch = "at::randn({$S}, x[0].options())",
     .expected = "(got[0] - got[0].mean()) / got[0].std()",
     .python_launch = "torch.randn($S, dtype=x[0].dtype, device=x[0].device)",
     .python_right = "got.mean().abs() < 0.5 and (got.std() - 1).abs() < 0.5"},
    {.op = "arange",
     .shape = "1024",
     .inputs = kOne,
     .launch = "at::arange($0, x[0].options())",
     .python_launch = "torch.arange($0, dtype=x[0].dtype, device=x[0].device)"},
    {.op = "linspace",
     .shape = "1024",
     .inputs = kOne,
     .launch = "at::linspace(-1, 1, $0, x[0].options())",
     .python_launch = "torch.linspace(-1, 1, $0, dtype=x[0].dtype, device=x[0].device)"},
    {.op = "range",
     .shape = "1024",
     .inputs = kOne,
     .launch = "at::range(1, $0, x[0].options())",
     .python_launch = "torch.range(1, $0, dtype=x[0].dtype, device=x[0].device)"},
    {.op = "logspace",
     .shape = "1024",
     .inputs = kOne,
     .launch = "at::logspace(-1, 1, $0, 10, x[0].options())",
     .python_launch = "torch.logspace(-1, 1, $0, dtype=x[0].dtype, device=x[0].device)"},
    {.op = "eye",
     .shape = "64",
     .inputs = kOne,
     .launch = "at::eye($0, x[0].options())",
     .python_launch = "torch.eye($0, dtype=x[0].dtype, device=x[0].device)"},
    {.op = "add",
     .shape = "100x100",
     .inputs = "at::randn({$S}), at::randn({$S})",
     .launch = "at::add(x[0], x[1])",
     .python_launch = "torch.add(x[0], x[1])",
     .graph_inputs = "{$S}, {$S}",
     .graph_result = "$S",
     .graph_build = "[g additionWithPrimaryTensor:in[0] secondaryTensor:in[1] name:nil]",
     .graph_expected = "x + 1"},
    {.op = "mul",
     .shape = "100x100",
     .inputs = "at::randn({$S}), at::randn({$S})",
     .launch = "at::mul(x[0], x[1])",
     .python_launch = "torch.mul(x[0], x[1])"},
    {.op = "relu",
     .launch = "at::relu(x[0])",
     .python_launch = "torch.relu(x[0])",
     .graph_inputs = "{$S}",
     .graph_result = "$S",
     .graph_build = "[g reLUWithTensor:in[0] name:nil]",
     .graph_input = "i % 2 == 0 ? x : -x",
     .graph_expected = "i % 2 == 0 ? x : 0"},
    {.op = "gelu", .launch = "at::gelu(x[0])", .python_launch = "torch.nn.functional.gelu(x[0])"},
    {.op = "softmax",
     .launch = "at::softmax(x[0], -1)",
     .python_launch = "torch.softmax(x[0], -1)",
     .graph_inputs = "{$S}",
     .graph_result = "$S",
     .graph_build = "[g softMaxWithTensor:in[0] axis:-1 name:nil]",
     .graph_input = "i % $L == 0 ? x / 4 : 0",
     .graph_expected = "(i % $L == 0 ? std::exp(x / 4) : 1) / (std::exp(x / 4) + $L - 1)"},
    {.op = "layer_norm",
     .shape = "8x64",
     .weights = "at::rand({$L}) + 0.5, at::randn({$L})",
     .launch = "at::layer_norm(x[0], {$L}, w[0], w[1])",
     .python_launch = "torch.nn.functional.layer_norm(x[0], [$L], w[0], w[1])"},
    {.op = "batch_norm",
     .shape = "8x16x32",
     .weights = "at::rand({$1}) + 0.5, at::randn({$1}), at::randn({$1}), at::rand({$1}) + 0.5",
     .launch = "at::batch_norm(x[0], w[0], w[1], w[2], w[3], false, 0.1, 1e-5, false)",
     .python_launch = "torch.nn.functional.batch_norm(x[0], w[2], w[3], w[0], w[1])"},
    {.op = "sdpa",
     .shape = "2x4x16x16",
     .inputs = "at::randn({$S}), at::randn({$S}), at::randn({$S})",
     .launch = "at::scaled_dot_product_attention(x[0], x[1], x[2])",
     .python_launch = "torch.nn.functional.scaled_dot_product_attention(x[0], x[1], x[2])"},
    {.op = "attention",
     .shape = "2x16x32x4",
     .inputs = "at::randn({$0, $1, $2})",
     .weights = "at::randn({3 * $2, $2}) / 16, at::randn({3 * $2})",
     .launch = "[&] {\n  const at::Tensor packed = at::linear(x[0], w[0], w[1]).unflatten(-1, {3, "
               "$2}).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous();\n"
               "  const auto heads = [&](int64_t i) { return packed.select(0, i).view({$0, $1, $3, "
               "-1}).transpose(1, 2); };\n"
               "  return at::scaled_dot_product_attention(heads(0), heads(1), heads(2));\n}()",
     .python_launch =
         "torch.nn.functional.scaled_dot_product_attention(*(each.view($0, $1, $3, "
         "-1).transpose(1, 2) for each in torch.nn.functional.linear(x[0], w[0], "
         "w[1]).unflatten(-1, (3, $2)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()))",
     .linear = true},
    {.op = "attention_strided",
     .shape = "2x16x32x4",
     .inputs = "at::randn({$0, $1, $2})",
     .weights = "at::randn({3 * $2, $2}) / 16, at::randn({3 * $2})",
     .launch = "[&] {\n  const at::Tensor packed = at::linear(x[0], w[0], w[1]).unflatten(-1, {3, "
               "$2}).unsqueeze(0).transpose(0, -2).squeeze(-2);\n"
               "  const auto heads = [&](int64_t i) { return packed.select(0, i).reshape({$0, $1, "
               "$3, -1}).transpose(1, 2); };\n"
               "  return at::scaled_dot_product_attention(heads(0), heads(1), heads(2));\n}()",
     .python_launch = "torch.nn.functional.scaled_dot_product_attention(*(each.reshape($0, $1, $3, "
                      "-1).transpose(1, 2) for each in torch.nn.functional.linear(x[0], w[0], "
                      "w[1]).unflatten(-1, (3, $2)).unsqueeze(0).transpose(0, -2).squeeze(-2)))",
     .linear = true},
    {.op = "renorm",
     .launch = "at::renorm(x[0], 2, 0, 1)",
     .python_launch = "torch.renorm(x[0], 2, 0, 1)"},
    {.op = "householder_product",
     .shape = "33",
     .inputs = "at::eye($0) + at::eye($0).roll($0 / 2, 1), at::randn({$0})",
     .launch = "at::linalg_householder_product(x[0], x[1])",
     .python_launch = "torch.linalg.householder_product(x[0], x[1])"},
    {.op = "sum", .launch = "at::sum(x[0])", .python_launch = "torch.sum(x[0])"},
    {.op = "nonzero",
     .shape = "32x32",
     .inputs = "at::relu(at::randn({$S}))",
     .launch = "at::nonzero(x[0])",
     .python_launch = "torch.nonzero(x[0])"},
    {.op = "mm",
     .shape = "64x64x64",
     .inputs = "at::randn({$0, $1}), at::randn({$1, $2}) / $R",
     .launch = "at::mm(x[0], x[1])",
     .python_launch = "torch.mm(x[0], x[1])",
     .graph_inputs = "{$0, $1}, {$1, $2}",
     .graph_result = "$0, $2",
     .graph_build =
         "[g matrixMultiplicationWithPrimaryTensor:in[0] secondaryTensor:in[1] name:nil]",
     .graph_expected = "$1 * x"},
    {.op = "bmm",
     .shape = "4x16x32x16",
     .inputs = "at::randn({$0, $1, $2}), at::randn({$0, $2, $3}) / 8",
     .launch = "at::bmm(x[0], x[1])",
     .python_launch = "torch.bmm(x[0], x[1])"},
    {.op = "matmul",
     .shape = "64x64x64",
     .inputs = "at::randn({$0, $1}), at::randn({$1, $2}) / $R",
     .launch = "at::matmul(x[0], x[1])",
     .python_launch = "torch.matmul(x[0], x[1])"},
    {.op = "addmm",
     .shape = "8x64x64",
     .inputs = "at::randn({$0, $1})",
     .weights = "at::randn({$2, $1}) / $R, at::randn({$2})",
     .launch = "at::addmm(w[1], x[0], w[0].t())",
     .python_launch = "torch.addmm(w[1], x[0], w[0].t())"},
    {.op = "matmul_bias",
     .shape = "8x64x64",
     .inputs = "at::randn({$0, $1})",
     .weights = "at::randn({$2, $1}) / $R, at::randn({$2})",
     .launch = "at::matmul(x[0], w[0].t()) + w[1]",
     .python_launch = "x[0] @ w[0].T + w[1]"},
    {.op = "linear",
     .shape = "8x64x64",
     .inputs = "at::randn({$0, $1})",
     .weights = "at::randn({$2, $1}) / $R, at::randn({$2})",
     .launch = "at::linear(x[0], w[0], w[1])",
     .python_launch = "torch.nn.functional.linear(x[0], w[0], w[1])",
     .graph_inputs = "{$0, $1}, {$2, $1}, {$2}",
     .graph_result = "$0, $2",
     .graph_build = "linear",  // the one that the program comes with
     .graph_expected = "$1 * x + 1",
     .linear = true},
    {.op = "linear_module",
     .shape = "8x64x64",
     .inputs = "at::randn({$0, $1})",
     .weights = "(at::randn({$2, $1}) / $R).requires_grad_(), at::randn({$2}).requires_grad_()",
     .launch = "at::linear(x[0], w[0], w[1])",
     .python_launch = "torch.nn.functional.linear(x[0], w[0], w[1])",
     .linear = true},
    {.op = "mlp",
     .shape = "8x64x128x64",
     .inputs = "at::randn({$0, $1})",
     .weights = "(at::randn({$2, $1}) / $R).requires_grad_(), at::randn({$2}).requires_grad_(), "
                "(at::randn({$3, $2}) / $R).requires_grad_(), at::randn({$3}).requires_grad_()",
     .launch = "at::linear(at::relu(at::linear(x[0], w[0], w[1])), w[2], w[3])",
     .python_launch = "torch.nn.functional.linear(torch.relu(torch.nn.functional.linear(x[0], "
                      "w[0], w[1])), w[2], w[3])",
     .linear = true},
    {.op = "conv1d",
     .shape = "2x4x8x64x3",
     .inputs = "at::randn({$0, $1, $3})",
     .weights = "(at::randn({$2, $1, $4}) / $R).requires_grad_(), at::randn({$2}).requires_grad_()",
     .launch = "at::conv1d(x[0], w[0], w[1])",
     .python_launch = "torch.nn.functional.conv1d(x[0], w[0], w[1])"},
    {.op = "conv2d",
     .shape = "2x3x8x16x16x3",
     .inputs = "at::randn({$0, $1, $3, $4})",
     .weights =
         "(at::randn({$2, $1, $5, $5}) / $R).requires_grad_(), at::randn({$2}).requires_grad_()",
     .launch = "at::conv2d(x[0], w[0], w[1])",
     .python_launch = "torch.nn.functional.conv2d(x[0], w[0], w[1])"},
    {.op = "raw",
     .shape = "64x64x64",
     .inputs = kOne,
     .launch = "raw",  // several statements, see emission.cpp
     .expected = "got[0], got[1], at::relu(at::mm(got[0], got[1]))",
     .python_launch =
         "(lambda a, b: (a, b, torch.relu(torch.mm(a, b))))(torch.randn($0, $1, dtype=x[0].dtype, "
         "device=x[0].device), torch.randn($1, $2, dtype=x[0].dtype, device=x[0].device))",
     .python_right =
         "torch.allclose(got[2].cpu(), torch.relu(got[0].cpu() @ got[1].cpu()), $E, $E)"},
    {.op = "unary_mix",
     .inputs = kOne,
     .weights = "at::rand({$S}) * 0.8 + 0.1",
     .launch = "unary_mix"},
    {.op = "range_mix", .shape = "1024", .inputs = kOne, .launch = "range_mix"},
};

}  // namespace

std::span<const Recipe> recipes() {
  return kRecipes;
}

const Recipe* find_recipe(std::string_view op) {
  const auto* const found = std::find_if(std::begin(kRecipes), std::end(kRecipes),
                                         [&](const Recipe& recipe) { return recipe.op == op; });
  return found == std::end(kRecipes) ? nullptr : found;
}

}  // namespace mpsprobe
