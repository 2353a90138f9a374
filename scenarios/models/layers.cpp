#include "scenarios/models/layers.h"

#include <ATen/ops/add.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include "scenarios/threads/meeting.h"

namespace mpsprobe {
namespace {

constexpr double kEps = 1e-5;
constexpr double kDropout = 0.1;

// A module's dropout makes its call in eval mode too; it hands its input through.
at::Tensor dropout(const at::Tensor& x) {
  return at::dropout(x, kDropout, /*train=*/false);
}

at::Tensor self_attention(const Call& call, const at::Tensor& x) {
  const int64_t sequence = call.sizes[0];
  const int64_t batch = call.sizes[1];
  const int64_t model = call.sizes[2];
  const int64_t heads = call.sizes[3];
  const int64_t head = model / heads;
  // Query, key and value in one projection.
  const at::Tensor packed = at::linear(x, call.parameters[0], call.parameters[1])
                                .unflatten(-1, at::IntArrayRef{3, model})
                                .unsqueeze(0)
                                .transpose(0, -2)
                                .squeeze(-2)
                                .contiguous();
  const auto split = [&](int64_t which) {
    return packed.select(0, which)
        .view({sequence, batch * heads, head})
        .transpose(0, 1)
        .view({batch, heads, sequence, head});
  };
  const at::Tensor attended =
      at::scaled_dot_product_attention(split(0), split(1), split(2), std::nullopt, 0.0, false)
          .permute({2, 0, 1, 3})
          .reshape({batch * sequence, model});
  return at::linear(attended, call.parameters[2], call.parameters[3])
      .view({sequence, batch, model});
}

at::Tensor feed_forward(const Call& call, const at::Tensor& x) {
  const at::Tensor hidden =
      dropout(at::relu(at::linear(x, call.parameters[4], call.parameters[5])));
  return dropout(at::linear(hidden, call.parameters[6], call.parameters[7]));
}

at::Tensor normalise(const Call& call, const at::Tensor& x, size_t first_parameter) {
  return at::layer_norm(x, {call.sizes[2]}, call.parameters[first_parameter],
                        call.parameters[first_parameter + 1], kEps);
}

}  // namespace

Tensors run_transformer_layer(const Call& call) {
  const at::Tensor& x = call.inputs[0];
  const at::Tensor gathered = self_attention(call, x);
  end_of_stage();
  const at::Tensor attended = normalise(call, at::add(x, dropout(gathered)), 8);
  end_of_stage();
  const at::Tensor fed = feed_forward(call, attended);
  end_of_stage();
  return {normalise(call, at::add(attended, fed), 10)};
}

void append_transformer_layer(Tensors& parameters, Random& random, const Sizes& sizes) {
  const int64_t model = sizes[2];
  const int64_t feedforward = sizes[4];
  append_layer(parameters, random, {3 * model, model});  // in_proj
  append_layer(parameters, random, {model, model});      // out_proj
  append_layer(parameters, random, {feedforward, model});
  append_layer(parameters, random, {model, feedforward});
  for (int norm = 0; norm < 2; ++norm) {
    parameters.push_back(random.uniform({model}, 0.5, 1.5));
    parameters.push_back(random.uniform({model}, -0.5, 0.5));
  }
}

int64_t transformer_layer_terms(const Sizes&) {
  return 16;
}

std::string_view refuse_transformer_layer(const Sizes& sizes) {
  return sizes[2] % sizes[3] != 0 ? "the model size is no multiple of the number of heads" : "";
}

}  // namespace mpsprobe
