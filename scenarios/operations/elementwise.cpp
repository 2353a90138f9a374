#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/add.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/renorm.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/tanh.h>

#include "scenarios/operations/operation.h"
#include "scenarios/worker/workload.h"

// Operations on the elements of tensors, and reductions over them.

namespace mpsprobe {
namespace {

Tensors one_normal(Random& random, const Sizes& sizes) {
  return {random.normal(sizes)};
}

Tensors two_normal(Random& random, const Sizes& sizes) {
  return {random.normal(sizes), random.normal(sizes)};
}

// scenarios/observer/extensions/extension.mm, in the workers that it is linked into.
at::Tensor call_extension(const at::Tensor& input) {
  if (!input.is_mps()) return at::tanh(input);
  static const auto found = c10::Dispatcher::singleton().findSchema({"demo::command_buffer", ""});
  if (!found) throw UnsupportedError("op=extension: no extension is linked into this worker");
  return found->typed<at::Tensor(const at::Tensor&)>().call(input);
}

const Operation kElementwise[] = {
    {
        .name = "add",
        .summary = "t1 + t2",
        .source = "report 004",
        .shape = "100x100",
        .dtypes = numeric_types(),
        .rounding = Rounding::elementary,
        .observed_as = {"aten::add"},
        .inputs = two_normal,
        .run = [](const Call& call) -> Tensors {
          return {at::add(call.inputs[0], call.inputs[1])};
        },
    },
    {
        .name = "mul",
        .summary = "t1 * t2",
        .source = "report 004",
        .shape = "100x100",
        .dtypes = numeric_types(),
        .rounding = Rounding::elementary,
        .observed_as = {"aten::mul"},
        .inputs = two_normal,
        .run = [](const Call& call) -> Tensors {
          return {at::mul(call.inputs[0], call.inputs[1])};
        },
    },
    {
        .name = "relu",
        .summary = "max(x, 0)",
        .source = "reports 000, 002",
        .shape = "64x64",
        .observed_as = {"aten::relu"},
        .inputs = one_normal,
        .run = [](const Call& call) -> Tensors { return {at::relu(call.inputs[0])}; },
    },
    {
        .name = "gelu",
        .summary = "F.gelu(x), by the error function",
        .source = "the reports' authors by hand: control of layer_norm",
        .shape = "64x64",
        .rounding = Rounding::transcendental,
        .observed_as = {"aten::gelu"},
        .inputs = one_normal,
        .run = [](const Call& call) -> Tensors { return {at::gelu(call.inputs[0])}; },
    },
    {
        .name = "tanh",
        .summary = "tanh(x): a kernel whose pipeline all threads share on MPS",
        .source = "pytorch/pytorch#167541",
        .shape = "64x64",
        .rounding = Rounding::transcendental,
        .observed_as = {"aten::tanh"},
        .inputs = one_normal,
        .run = [](const Call& call) -> Tensors { return {at::tanh(call.inputs[0])}; },
    },
    {
        .name = "softmax",
        .summary = "softmax over the last dimension (one cached graph for all threads on MPS)",
        .source = "report 002",
        .shape = "64x64",
        .rounding = Rounding::transcendental,
        .observed_as = {"aten::softmax", "aten::_softmax"},
        .inputs = one_normal,
        .run = [](const Call& call) -> Tensors { return {at::softmax(call.inputs[0], -1)}; },
    },
    {
        .name = "renorm",
        .summary = "rows whose length is above 1 are shortened to 1",
        .source = "pytorch/pytorch#197836",
        .shape = "64x64",
        .rounding = Rounding::transcendental,
        .observed_as = {"aten::renorm"},
        .inputs = one_normal,
        .run = [](const Call& call) -> Tensors { return {at::renorm(call.inputs[0], 2, 0, 1)}; },
    },
    {
        .name = "extension",
        .summary = "tanh, then an encoder of one's own in torch::mps::get_command_buffer()",
        .source = "pytorch/pytorch#163721",
        .shape = "64x64",
        .rounding = Rounding::transcendental,
        .capturable = false,
        .only_on = Backend::mps,
        .observed_as = {"aten::tanh"},
        .inputs = one_normal,
        .run = [](const Call& call) -> Tensors { return {call_extension(call.inputs[0])}; },
    },
    {
        .name = "layer_norm",
        .summary = "nn.LayerNorm over the last dimension, with weight and bias",
        .source = "report 003",
        .shape = "8x64",
        // The square root's error and the sums' are both below what fast functions are granted.
        .rounding = Rounding::transcendental,
        .observed_as = {"aten::layer_norm", "aten::native_layer_norm"},
        .inputs = one_normal,
        .parameters = [](Random& random, const Sizes& sizes) -> Tensors {
          return {random.uniform({sizes.back()}, 0.5, 1.5), random.normal({sizes.back()})};
        },
        .run = [](const Call& call) -> Tensors {
          return {at::layer_norm(call.inputs[0], {call.sizes.back()}, call.parameters[0],
                                 call.parameters[1], 1e-5)};
        },
    },
    {
        .name = "batch_norm",
        .summary = "nn.BatchNorm1d in eval mode, with weight, bias and running statistics",
        .source = "the reports' authors by hand: models of convolutions",
        .shape = "8x16x32",
        .dimensions = "batch x channels x length",
        .rounding = Rounding::transcendental,
        .observed_as = {"aten::batch_norm", "aten::native_batch_norm"},
        .inputs = one_normal,
        .parameters = [](Random& random, const Sizes& sizes) -> Tensors {
          const int64_t channels = sizes[1];
          return {random.uniform({channels}, 0.5, 1.5), random.normal({channels}),
                  random.normal({channels}), random.uniform({channels}, 0.5, 1.5)};
        },
        .run = [](const Call& call) -> Tensors {
          const Tensors& learned = call.parameters;
          return {at::batch_norm(call.inputs[0], learned[0], learned[1], learned[2], learned[3],
                                 /*training=*/false, 0.1, 1e-5, /*cudnn_enabled=*/false)};
        },
    },
    {
        .name = "sum",
        .summary = "sum of all elements",
        .source = "pytorch/pytorch#197805",
        .shape = "64x64",
        .dtypes = numeric_types(),
        .rounding = Rounding::accumulated,
        .observed_as = {"aten::sum"},
        .terms = element_count,
        .inputs = one_normal,
        .run = [](const Call& call) -> Tensors { return {at::sum(call.inputs[0])}; },
    },
    {
        .name = "nonzero",
        .summary = "indices of the elements that are not zero (waits for the device inside)",
        .source = "pytorch/pytorch#100285",
        .shape = "32x32",
        .dtypes = numeric_types(),
        .capturable = false,
        .observed_as = {"aten::nonzero"},
        .inputs = [](Random& random, const Sizes& sizes) -> Tensors {
          return {at::relu(random.normal(sizes))};
        },
        .run = [](const Call& call) -> Tensors { return {at::nonzero(call.inputs[0])}; },
    },
};

}  // namespace

std::span<const Operation> elementwise_operations() {
  return kElementwise;
}

}  // namespace mpsprobe
