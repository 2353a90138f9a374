#include <mlx/fast.h>
#include <mlx/ops.h>

#include <cmath>

#include "scenarios/comparison/seeded_layers.h"
#include "scenarios/mlx/mlx_operation.h"

// Layers and models: the calls that the modules of mlx.nn make, in their order.

namespace mpsprobe {
namespace {

namespace mx = ::mlx::core;

constexpr float kEps = 1e-5F;

// mlx.nn.Linear: mx.addmm(bias, x, weight.T). `first` is the weight, after it comes the bias.
mx::array linear(const MlxCall& call, const mx::array& x, size_t first) {
  return mx::addmm(call.parameters[first + 1], x,
                   mx::transpose(call.parameters[first], call.stream), 1.0F, 1.0F, call.stream);
}

mx::array rectified(const MlxCall& call, const mx::array& x) {
  return mx::maximum(x, mx::array(0.0F), call.stream);
}

mx::array normalise(const MlxCall& call, const mx::array& x, size_t first) {
  return mx::fast::layer_norm(x, call.parameters[first], call.parameters[first + 1], kEps,
                              call.stream);
}

// Written out, since the fused call's arguments changed between releases.
mx::array self_attention(const MlxCall& call, const mx::array& x) {
  const auto sequence = static_cast<int>(call.sizes[0]);
  const auto batch = static_cast<int>(call.sizes[1]);
  const auto model = static_cast<int>(call.sizes[2]);
  const auto heads = static_cast<int>(call.sizes[3]);
  const int head = model / heads;
  const mx::Stream& s = call.stream;
  // Query, key and value in one projection: [sequence, batch, 3, heads, head].
  const mx::array packed = mx::reshape(linear(call, x, 0), {sequence, batch, 3, heads, head}, s);
  const auto part = [&](int which) {
    const mx::array taken = mx::squeeze(
        mx::slice(packed, {0, 0, which, 0, 0}, {sequence, batch, which + 1, heads, head}, s), 2, s);
    return mx::transpose(taken, {1, 2, 0, 3}, s);  // [batch, heads, sequence, head]
  };
  const mx::array scale(1 / std::sqrt(static_cast<float>(head)));
  const mx::array scores =
      mx::matmul(mx::multiply(part(0), scale, s), mx::transpose(part(1), {0, 1, 3, 2}, s), s);
  const mx::array attended =
      mx::matmul(mx::softmax(scores, std::vector<int>{-1}, false, s), part(2), s);
  return linear(
      call, mx::reshape(mx::transpose(attended, {2, 0, 1, 3}, s), {sequence, batch, model}, s), 2);
}

Arrays transformer_layer(const MlxCall& call) {
  const mx::array& x = call.inputs[0];
  const mx::array attended = normalise(call, mx::add(x, self_attention(call, x), call.stream), 8);
  const mx::array fed = linear(call, rectified(call, linear(call, attended, 4)), 6);
  return {normalise(call, mx::add(attended, fed, call.stream), 10)};
}

const MlxOperation kModels[] = {
    {
        .name = "linear",
        .summary = "mlx.nn.Linear: mx.addmm(b, x, w.T)",
        .source = "reports 000, 001, 002",
        .shape = "8x64x64",
        .dimensions = "batch x in x out",
        .rounding = Rounding::accumulated,
        .inputs = normal_of<0, 1>,
        .parameters = [](Numbers& numbers, const Sizes& sizes) -> std::vector<HostArray> {
          return layers(numbers, {{sizes[2], sizes[1]}});
        },
        .run = [](const MlxCall& call) -> Arrays { return {linear(call, call.inputs[0], 0)}; },
    },
    {
        .name = "mlp",
        .summary = "mlx.nn.Sequential(Linear, ReLU, Linear)",
        .source = "reports 002, 003",
        .shape = "8x64x128x64",
        .dimensions = "batch x in x hidden x out",
        .rounding = Rounding::accumulated,
        .made_of = {"linear", "relu"},
        .inputs = normal_of<0, 1>,
        .parameters = [](Numbers& numbers, const Sizes& sizes) -> std::vector<HostArray> {
          return layers(numbers, {{sizes[2], sizes[1]}, {sizes[3], sizes[2]}});
        },
        .run = [](const MlxCall& call) -> Arrays {
          return {linear(call, rectified(call, linear(call, call.inputs[0], 0)), 2)};
        },
    },
    {
        .name = "conv2d",
        .summary = "mlx.nn.Conv2d, stride 1, no padding",
        .source = "report 003",
        .shape = "2x3x8x16x16x3",
        .dimensions = "batch x in x out x height x width x kernel",
        .rounding = Rounding::accumulated,
        .refuse = [](const Sizes& sizes) -> std::string_view {
          return sizes[5] > sizes[3] || sizes[5] > sizes[4] ? "the kernel is larger than the input"
                                                            : "";
        },
        .terms = [](const Sizes& sizes) { return sizes[1] * sizes[5] * sizes[5]; },
        // MLX has the channels last.
        .inputs = normal_of<0, 3, 4, 1>,
        .parameters = [](Numbers& numbers, const Sizes& sizes) -> std::vector<HostArray> {
          return layers(numbers, {{sizes[2], sizes[5], sizes[5], sizes[1]}});
        },
        .run = [](const MlxCall& call) -> Arrays {
          const mx::array product = mx::conv2d(call.inputs[0], call.parameters[0], {1, 1}, {0, 0},
                                               {1, 1}, 1, call.stream);
          return {mx::add(product, call.parameters[1], call.stream)};
        },
    },
    {
        .name = "transformer_layer",
        .summary = "a transformer's encoder layer: attention, feed-forward, two normalisations",
        .source = "report 003",
        .shape = "8x2x32x4x64",
        .dimensions = "sequence x batch x model x heads x feedforward",
        .rounding = Rounding::accumulated,
        .made_of = {"linear", "layer_norm", "softmax", "mm"},
        .refuse = [](const Sizes& sizes) -> std::string_view {
          return sizes[2] % sizes[3] != 0 ? "the model size is no multiple of the number of heads"
                                          : "";
        },
        // As for the same layer on LibTorch: the errors of its stages add up.
        .terms = [](const Sizes&) -> int64_t { return 16; },
        .inputs = normal_of<0, 1, 2>,
        .parameters = [](Numbers& numbers, const Sizes& sizes) -> std::vector<HostArray> {
          const int64_t model = sizes[2];
          const int64_t feedforward = sizes[4];
          std::vector<HostArray> parameters = layers(
              numbers,
              {{3 * model, model}, {model, model}, {feedforward, model}, {model, feedforward}});
          for (int norm = 0; norm < 2; ++norm) {
            parameters.push_back(numbers.uniform({model}, 0.5, 1.5));
            parameters.push_back(numbers.uniform({model}, -0.5, 0.5));
          }
          return parameters;
        },
        .run = transformer_layer,
    },
};

}  // namespace

std::span<const MlxOperation> mlx_models() {
  return kModels;
}

}  // namespace mpsprobe
