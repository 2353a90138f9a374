#include <ATen/ops/conv1d.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>

#include "scenarios/models/layers.h"
#include "scenarios/operations/operation.h"
#include "scenarios/threads/meeting.h"

// Models: each run makes the ATen calls that Python's module makes, in their order. Parameters
// require a gradient as a module's do, so that a forward records for backward, as in a script
// without torch.no_grad(); the transformer layer alone is run for inference (see its header).

namespace mpsprobe {
namespace {

const Operation kModels[] = {
    {
        .name = "linear_module",
        .summary = "nn.Linear: aten::linear with parameters that require a gradient",
        .source = "reports 000, 001, 002, 003",
        .shape = "8x64x64",
        .dimensions = "batch x in x out",
        .rounding = Rounding::accumulated,
        .ends_in_linear = true,
        .records_gradient = true,
        .observed_as = {"aten::linear"},
        .made_of = {"linear"},
        .inputs = normal_of<0, 1>,
        .parameters = [](Random& random, const Sizes& sizes) -> Tensors {
          return layers(random, {{sizes[2], sizes[1]}});
        },
        .run = [](const Call& call) -> Tensors {
          return {at::linear(call.inputs[0], call.parameters[0], call.parameters[1])};
        },
    },
    {
        .name = "mlp",
        .summary = "nn.Sequential(Linear, ReLU, Linear)",
        .source = "reports 002, 003",
        .shape = "8x64x128x64",
        .dimensions = "batch x in x hidden x out",
        .rounding = Rounding::accumulated,
        .ends_in_linear = true,
        .has_stages = true,
        .records_gradient = true,
        .observed_as = {"aten::linear"},
        .made_of = {"linear", "relu"},
        .inputs = normal_of<0, 1>,
        .parameters = [](Random& random, const Sizes& sizes) -> Tensors {
          return layers(random, {{sizes[2], sizes[1]}, {sizes[3], sizes[2]}});
        },
        .run = [](const Call& call) -> Tensors {
          const at::Tensor hidden =
              at::relu(at::linear(call.inputs[0], call.parameters[0], call.parameters[1]));
          end_of_stage();
          return {at::linear(hidden, call.parameters[2], call.parameters[3])};
        },
    },
    {
        .name = "conv1d",
        .summary = "nn.Conv1d, stride 1, no padding",
        .source = "report 003",
        .shape = "2x4x8x64x3",
        .dimensions = "batch x in x out x length x kernel",
        .rounding = Rounding::accumulated,
        .records_gradient = true,
        .observed_as = {"aten::conv1d", "aten::convolution", "aten::_convolution"},
        .refuse = [](const Sizes& sizes) -> std::string_view {
          return sizes[4] > sizes[3] ? "the kernel is longer than the input" : "";
        },
        .inputs = normal_of<0, 1, 3>,
        .parameters = [](Random& random, const Sizes& sizes) -> Tensors {
          return layers(random, {{sizes[2], sizes[1], sizes[4]}});
        },
        .run = [](const Call& call) -> Tensors {
          return {at::conv1d(call.inputs[0], call.parameters[0], call.parameters[1])};
        },
    },
    {
        .name = "conv2d",
        .summary = "nn.Conv2d, stride 1, no padding",
        .source = "report 003",
        .shape = "2x3x8x16x16x3",
        .dimensions = "batch x in x out x height x width x kernel",
        .rounding = Rounding::accumulated,
        .records_gradient = true,
        .observed_as = {"aten::conv2d", "aten::convolution", "aten::_convolution"},
        .refuse = [](const Sizes& sizes) -> std::string_view {
          return sizes[5] > sizes[3] || sizes[5] > sizes[4] ? "the kernel is larger than the input"
                                                            : "";
        },
        .inputs = normal_of<0, 1, 3, 4>,
        .parameters = [](Random& random, const Sizes& sizes) -> Tensors {
          return layers(random, {{sizes[2], sizes[1], sizes[5], sizes[5]}});
        },
        .run = [](const Call& call) -> Tensors {
          return {at::conv2d(call.inputs[0], call.parameters[0], call.parameters[1])};
        },
    },
    {
        .name = "transformer_layer",
        .summary = "nn.TransformerEncoderLayer in eval mode",
        .source = "report 003",
        .shape = "8x2x32x4x64",
        .dimensions = "sequence x batch x model x heads x feedforward",
        .rounding = Rounding::accumulated,
        .ends_in_linear = true,
        .has_stages = true,
        .observed_as = {"aten::linear"},
        .made_of = {"linear", "layer_norm", "relu", "add"},
        .refuse = refuse_transformer_layer,
        .terms = transformer_layer_terms,
        .inputs = normal_of<0, 1, 2>,
        .parameters = [](Random& random, const Sizes& sizes) -> Tensors {
          Tensors parameters;
          append_transformer_layer(parameters, random, sizes);
          return parameters;
        },
        .run = run_transformer_layer,
    },
};

}  // namespace

std::span<const Operation> model_operations() {
  return kModels;
}

}  // namespace mpsprobe
