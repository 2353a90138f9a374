#include <ATen/ops/add.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linalg_householder_product.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mm.h>

#include "scenarios/comparison/seeded_layers.h"
#include "scenarios/operations/operation.h"

// Matrix products. Reports 000 and 001 turn on which of them was called: addmm passes where linear
// crashes. So linear is at::linear, the call that Python's nn.Linear ends in; the C++ front end's
// torch::nn::Linear and torch::nn::functional::linear call addmm for two-dimensional input instead.

namespace mpsprobe {
namespace {

constexpr at::ScalarType kFloatAlone[] = {at::kFloat};

constexpr std::string_view kProduct = "rows x inner x columns";
constexpr std::string_view kLayer = "batch x in x out";

int64_t inner(const Sizes& sizes) {
  return sizes[1];
}

Tensors factors(Random& random, const Sizes& sizes) {
  return {random.normal({sizes[0], sizes[1]}), random.normal({sizes[1], sizes[2]})};
}

// The identity matrix with one element set to 1, as in the issue: reflections that cost no
// accuracy.
Tensors reflectors(Random& random, const Sizes& sizes) {
  const int64_t rows = sizes[0];
  at::Tensor matrix = at::eye(rows);
  const auto place = [&] {
    return random.uniform({1}, 0, static_cast<double>(rows)).item<int64_t>();
  };
  const int64_t row = place();
  matrix.select(0, row).select(0, place()).fill_(1);
  return {matrix, random.normal({rows})};
}

// The range shrinks as the number of terms grows, so that the tolerance needs no `terms`.
Tensors weight_and_bias(Random& random, const Sizes& sizes) {
  return layers(random, {{sizes[2], sizes[1]}});
}

// A machine that has so much gives it, and it is let go: nothing was written there.
void ask_for_too_much(const Call& call) {
  try {
    at::empty({call.sizes[3], int64_t{1} << 30}, call.options.dtype(at::kByte));
  } catch (const c10::Error&) {
    // What the operation is about: the next one has to work.
  }
}

const Operation kProducts[] = {
    {
        .name = "householder_product",
        .summary = "torch.linalg.householder_product(A, tau), also called orgqr",
        .source = "pytorch/pytorch#173972",
        .shape = "33",
        .dimensions = "rows",
        .dtypes = kFloatAlone,
        .rounding = Rounding::accumulated,
        .observed_as = {"aten::linalg_householder_product"},
        .terms = [](const Sizes& sizes) { return sizes[0]; },
        .inputs = reflectors,
        .run = [](const Call& call) -> Tensors {
          return {at::linalg_householder_product(call.inputs[0], call.inputs[1])};
        },
    },
    {
        .name = "mm",
        .summary = "torch.mm(a, b)",
        .source = "report 002",
        .shape = "64x64x64",
        .dimensions = kProduct,
        .rounding = Rounding::accumulated,
        .observed_as = {"aten::mm"},
        .terms = inner,
        .inputs = factors,
        .run = [](const Call& call) -> Tensors { return {at::mm(call.inputs[0], call.inputs[1])}; },
    },
    {
        .name = "oom_mm",
        .summary = "asks for more memory than there is, is refused, then torch.mm(a, b)",
        .source = "the reports' authors by hand: recovery where memory runs out",
        .shape = "64x64x64x100",
        .dimensions = "rows x inner x columns x GiB asked for",
        .rounding = Rounding::accumulated,
        .capturable = false,
        .observed_as = {"aten::mm"},
        .terms = inner,
        .inputs = factors,
        .run = [](const Call& call) -> Tensors {
          ask_for_too_much(call);
          return {at::mm(call.inputs[0], call.inputs[1])};
        },
    },
    {
        .name = "bmm",
        .summary = "torch.bmm(a, b)",
        .source = "the reports' authors by hand: linear algebra in parallel",
        .shape = "4x16x32x16",
        .dimensions = "batch x rows x inner x columns",
        .rounding = Rounding::accumulated,
        .observed_as = {"aten::bmm"},
        .terms = [](const Sizes& sizes) { return sizes[2]; },
        .inputs = [](Random& random, const Sizes& sizes) -> Tensors {
          return {random.normal({sizes[0], sizes[1], sizes[2]}),
                  random.normal({sizes[0], sizes[2], sizes[3]})};
        },
        .run = [](const Call& call) -> Tensors {
          return {at::bmm(call.inputs[0], call.inputs[1])};
        },
    },
    {
        .name = "matmul",
        .summary = "torch.matmul(a, b)",
        .source = "report 001",
        .shape = "64x64x64",
        .dimensions = kProduct,
        .rounding = Rounding::accumulated,
        .observed_as = {"aten::matmul", "aten::mm", "aten::bmm"},
        .made_of = {"mm"},
        .terms = inner,
        .inputs = factors,
        .run = [](const Call& call) -> Tensors {
          return {at::matmul(call.inputs[0], call.inputs[1])};
        },
    },
    {
        .name = "addmm",
        .summary = "torch.addmm(b, x, w.t())",
        .source = "report 001",
        .shape = "8x64x64",
        .dimensions = kLayer,
        .rounding = Rounding::accumulated,
        .observed_as = {"aten::addmm"},
        .inputs = normal_of<0, 1>,
        .parameters = weight_and_bias,
        .run = [](const Call& call) -> Tensors {
          return {at::addmm(call.parameters[1], call.inputs[0], call.parameters[0].t())};
        },
    },
    {
        .name = "matmul_bias",
        .summary = "x @ w.T + b, nn.Linear written out",
        .source = "report 001",
        .shape = "8x64x64",
        .dimensions = kLayer,
        .rounding = Rounding::accumulated,
        .observed_as = {"aten::matmul", "aten::mm", "aten::bmm"},
        .made_of = {"matmul", "add"},
        .inputs = normal_of<0, 1>,
        .parameters = weight_and_bias,
        .run = [](const Call& call) -> Tensors {
          return {at::add(at::matmul(call.inputs[0], call.parameters[0].numpy_T()),
                          call.parameters[1])};
        },
    },
    {
        .name = "linear",
        .summary = "F.linear(x, w, b): aten::linear",
        .source = "reports 000, 001, 002",
        .shape = "8x64x64",
        .dimensions = kLayer,
        .rounding = Rounding::accumulated,
        .ends_in_linear = true,
        .observed_as = {"aten::linear"},
        .inputs = normal_of<0, 1>,
        .parameters = weight_and_bias,
        .run = [](const Call& call) -> Tensors {
          return {at::linear(call.inputs[0], call.parameters[0], call.parameters[1])};
        },
    },
};

}  // namespace

std::span<const Operation> product_operations() {
  return kProducts;
}

}  // namespace mpsprobe
