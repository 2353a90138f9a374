#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>

#include "scenarios/models/layers.h"
#include "scenarios/operations/operation.h"
#include "scenarios/threads/meeting.h"

// Models of several layers of a kind, as the reports' authors ran them by hand.

namespace mpsprobe {
namespace {

constexpr std::string_view kModelMixNames[] = {"linear", "mlp", "conv1d"};

constexpr size_t kOfATransformerLayer = 12;  // parameters

void append_normalisation(Tensors& parameters, Random& random, int64_t channels) {
  parameters.push_back(random.uniform({channels}, 0.5, 1.5));
  parameters.push_back(random.uniform({channels}, -0.5, 0.5));
  parameters.push_back(random.uniform({channels}, -0.5, 0.5));  // running mean
  parameters.push_back(random.uniform({channels}, 0.5, 1.5));   // running variance
}

// Convolution, normalisation in eval mode, ReLU; its parameters begin at `first`.
at::Tensor convolved(const Call& call, const at::Tensor& x, size_t first) {
  const Tensors& own = call.parameters;
  const at::Tensor normal =
      at::batch_norm(at::conv2d(x, own[first], own[first + 1]), own[first + 2], own[first + 3],
                     own[first + 4], own[first + 5], /*training=*/false, 0.1, 1e-5,
                     /*cudnn_enabled=*/false);
  return at::relu(normal);
}

Tensors run_transformer_encoder(const Call& call) {
  Tensors x = call.inputs;
  for (size_t first = 0; first < call.parameters.size(); first += kOfATransformerLayer) {
    const Tensors layer(
        call.parameters.begin() + static_cast<std::ptrdiff_t>(first),
        call.parameters.begin() + static_cast<std::ptrdiff_t>(first + kOfATransformerLayer));
    x = run_transformer_layer({.sizes = call.sizes,
                               .inputs = x,
                               .parameters = layer,
                               .options = call.options,
                               .variant = call.variant});
    end_of_stage();
  }
  return x;
}

const Operation kStackedModels[] = {
    {
        .name = "mlp3",
        .summary = "nn.Sequential(Linear, ReLU, Linear, ReLU, Linear)",
        .source = "the reports' authors by hand: models of three linear layers",
        .shape = "8x64x128x64",
        .dimensions = "batch x in x hidden x out",
        .rounding = Rounding::accumulated,
        .ends_in_linear = true,
        .has_stages = true,
        .records_gradient = true,
        .observed_as = {"aten::linear"},
        .made_of = {"linear", "relu", "mlp"},
        .inputs = normal_of<0, 1>,
        .parameters = [](Random& random, const Sizes& sizes) -> Tensors {
          return layers(random, {{sizes[2], sizes[1]}, {sizes[2], sizes[2]}, {sizes[3], sizes[2]}});
        },
        .run = [](const Call& call) -> Tensors {
          const Tensors& own = call.parameters;
          const at::Tensor first = at::relu(at::linear(call.inputs[0], own[0], own[1]));
          end_of_stage();
          const at::Tensor second = at::relu(at::linear(first, own[2], own[3]));
          end_of_stage();
          return {at::linear(second, own[4], own[5])};
        },
    },
    {
        .name = "conv_stack",
        .summary =
            "nn.Sequential(Conv1d(1, C), ReLU, Conv1d(C, C), ReLU, Conv1d(C, 1)), no padding",
        .source = "the reports' authors by hand: real models in parallel",
        .shape = "2x8x64x3",
        .dimensions = "batch x channels x length x kernel",
        .rounding = Rounding::accumulated,
        .records_gradient = true,
        .observed_as = {"aten::conv1d", "aten::conv2d", "aten::convolution"},
        .made_of = {"conv1d", "relu"},
        .refuse = [](const Sizes& sizes) -> std::string_view {
          return 3 * (sizes[3] - 1) >= sizes[2] ? "three kernels are longer than the input" : "";
        },
        .inputs = [](Random& random, const Sizes& sizes) -> Tensors {
          return {random.normal({sizes[0], 1, sizes[2]})};
        },
        .parameters = [](Random& random, const Sizes& sizes) -> Tensors {
          return layers(
              random,
              {{sizes[1], 1, sizes[3]}, {sizes[1], sizes[1], sizes[3]}, {1, sizes[1], sizes[3]}});
        },
        .run = [](const Call& call) -> Tensors {
          const Tensors& own = call.parameters;
          const at::Tensor first = at::relu(at::conv1d(call.inputs[0], own[0], own[1]));
          const at::Tensor second = at::relu(at::conv1d(first, own[2], own[3]));
          return {at::conv1d(second, own[4], own[5])};
        },
    },
    {
        .name = "conv_net",
        .summary =
            "nn.Sequential(Conv2d, BatchNorm2d, ReLU, Conv2d, BatchNorm2d, ReLU) in eval mode",
        .source = "the reports' authors by hand: convolutions with BatchNorm",
        .shape = "2x3x8x16x16x3",
        .dimensions = "batch x in x channels x height x width x kernel",
        .rounding = Rounding::accumulated,
        .observed_as = {"aten::conv1d", "aten::conv2d", "aten::convolution"},
        .made_of = {"conv2d", "batch_norm", "relu"},
        .refuse = [](const Sizes& sizes) -> std::string_view {
          const int64_t taken = 2 * (sizes[5] - 1);
          return taken >= sizes[3] || taken >= sizes[4] ? "two kernels are larger than the input"
                                                        : "";
        },
        .inputs = normal_of<0, 1, 3, 4>,
        .parameters = [](Random& random, const Sizes& sizes) -> Tensors {
          Tensors parameters;
          append_layer(parameters, random, {sizes[2], sizes[1], sizes[5], sizes[5]});
          append_normalisation(parameters, random, sizes[2]);
          append_layer(parameters, random, {sizes[2], sizes[2], sizes[5], sizes[5]});
          append_normalisation(parameters, random, sizes[2]);
          return parameters;
        },
        .run = [](const Call& call) -> Tensors {
          return {convolved(call, convolved(call, call.inputs[0], 0), 6)};
        },
    },
    {
        .name = "model_mix",
        .summary = "another model in each thread: Linear, Linear-ReLU-Linear, Conv1d",
        .source = "the reports' authors by hand: models of several kinds at once",
        .shape = "8x64x3",
        .dimensions = "batch x features x kernel",
        .rounding = Rounding::accumulated,
        .records_gradient = true,
        .observed_as = {"aten::linear"},
        .made_of = {"linear", "mlp", "conv1d"},
        .refuse = [](const Sizes& sizes) -> std::string_view {
          return sizes[2] > sizes[1] ? "the kernel is longer than the features" : "";
        },
        .inputs = normal_of<0, 1>,
        .parameters = [](Random& random, const Sizes& sizes) -> Tensors {
          return layers(random, {{sizes[1], sizes[1]}, {sizes[1], sizes[1]}, {1, 1, sizes[2]}});
        },
        .variant_name =
            [](int variant) { return kModelMixNames[static_cast<size_t>(variant) % 3]; },
        .run = [](const Call& call) -> Tensors {
          const at::Tensor& x = call.inputs[0];
          const Tensors& own = call.parameters;
          if (call.variant % 3 == 2) return {at::conv1d(x.unsqueeze(1), own[4], own[5])};
          const at::Tensor first = at::linear(x, own[0], own[1]);
          if (call.variant % 3 == 0) return {first};
          return {at::linear(at::relu(first), own[2], own[3])};
        },
    },
    {
        .name = "transformer_encoder",
        .summary = "nn.TransformerEncoder: several transformer layers in eval mode",
        .source = "the reports' authors by hand: two layers and six",
        .shape = "8x2x32x4x64x2",
        .dimensions = "sequence x batch x model x heads x feedforward x layers",
        .rounding = Rounding::accumulated,
        .ends_in_linear = true,
        .has_stages = true,
        .observed_as = {"aten::linear"},
        .made_of = {"transformer_layer", "linear", "layer_norm", "relu", "add"},
        .refuse = refuse_transformer_layer,
        // Each layer is normalised at its end, so that the errors of layers add up.
        .terms = [](const Sizes& sizes) { return transformer_layer_terms(sizes) * sizes[5]; },
        .inputs = normal_of<0, 1, 2>,
        .parameters = [](Random& random, const Sizes& sizes) -> Tensors {
          Tensors parameters;
          for (int64_t layer = 0; layer < sizes[5]; ++layer) {
            append_transformer_layer(parameters, random, sizes);
          }
          return parameters;
        },
        .run = run_transformer_encoder,
    },
};

}  // namespace

std::span<const Operation> stacked_model_operations() {
  return kStackedModels;
}

}  // namespace mpsprobe
