#include <ATen/ops/linear.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include <cmath>

#include "scenarios/operations/operation.h"
#include "scenarios/threads/meeting.h"

// Self-attention in its parts, under no gradient, as an application runs inference. The authors of
// the founding reports found wrong numbers where the packed projection was made contiguous before
// it was split, and none where it was not: `attention` and `attention_strided` differ in that call
// alone. The heads stay apart at the end, since joining them would copy in both.

namespace mpsprobe {
namespace {

constexpr std::string_view kAttentionSizes = "batch x sequence x model x heads";

at::Tensor attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  return at::scaled_dot_product_attention(query, key, value, std::nullopt, 0.0, false);
}

// Query, key and value of one projection, one behind the other along a new first dimension, as
// nn.MultiheadAttention unpacks them: a view whose rows lie three model sizes apart.
at::Tensor project(const Call& call) {
  return at::linear(call.inputs[0], call.parameters[0], call.parameters[1])
      .unflatten(-1, at::IntArrayRef{3, call.sizes[2]})
      .unsqueeze(0)
      .transpose(0, -2)
      .squeeze(-2);
}

Tensors attend_contiguous(const Call& call) {
  const at::Tensor projected = project(call);
  end_of_stage();
  const at::Tensor packed = projected.contiguous();
  end_of_stage();
  const auto heads = [&](int64_t which) {
    return packed.select(0, which)
        .view({call.sizes[0], call.sizes[1], call.sizes[3], -1})
        .transpose(1, 2);
  };
  return {attend(heads(0), heads(1), heads(2))};
}

Tensors attend_strided(const Call& call) {
  const at::Tensor packed = project(call);
  end_of_stage();
  const auto heads = [&](int64_t which) {
    return packed.select(0, which)
        .reshape({call.sizes[0], call.sizes[1], call.sizes[3], -1})
        .transpose(1, 2);
  };
  return {attend(heads(0), heads(1), heads(2))};
}

std::string_view refuse_heads(const Sizes& sizes) {
  return sizes[2] % sizes[3] != 0 ? "the model size is no multiple of the number of heads" : "";
}

// In the range that nn.Linear starts with: results stay near one.
Tensors projection(Random& random, const Sizes& sizes) {
  const double bound = 1 / std::sqrt(static_cast<double>(sizes[2]));
  return {random.uniform({3 * sizes[2], sizes[2]}, -bound, bound),
          random.uniform({3 * sizes[2]}, -bound, bound)};
}

// The errors of a projection, of the scores and of their weighted sum.
int64_t attention_terms(const Sizes& /*sizes*/) {
  return 16;
}

// The two ways are alike in all but the call.
Operation attention_way(std::string_view name, std::string_view summary, std::string_view source,
                        Tensors (*run)(const Call&)) {
  return {
      .name = name,
      .summary = summary,
      .source = source,
      .shape = "2x16x32x4",
      .dimensions = kAttentionSizes,
      .rounding = Rounding::accumulated,
      .ends_in_linear = true,
      .has_stages = true,
      .observed_as = {"aten::linear", "aten::scaled_dot_product_attention"},
      .made_of = {"linear", "sdpa"},
      .refuse = refuse_heads,
      .terms = attention_terms,
      .inputs = normal_of<0, 1, 2>,
      .parameters = projection,
      .run = run,
  };
}

const Operation kAttentions[] = {
    {
        .name = "sdpa",
        .summary = "F.scaled_dot_product_attention(q, k, v)",
        .source = "the reports' authors by hand: attention by its parts",
        .shape = "2x4x16x16",
        .dimensions = "batch x heads x sequence x head",
        .rounding = Rounding::accumulated,
        .observed_as = {"aten::scaled_dot_product_attention"},
        .terms = attention_terms,
        .inputs = [](Random& random, const Sizes& sizes) -> Tensors {
          return {random.normal(sizes), random.normal(sizes), random.normal(sizes)};
        },
        .run = [](const Call& call) -> Tensors {
          return {attend(call.inputs[0], call.inputs[1], call.inputs[2])};
        },
    },
    attention_way(
        "attention", "packed projection, contiguous(), attention: nn.MultiheadAttention's way",
        "the reports' authors by hand: wrong numbers after contiguous()", attend_contiguous),
    attention_way("attention_strided",
                  "packed projection, attention: the same without contiguous()",
                  "the reports' authors by hand: the control of attention", attend_strided),
};

}  // namespace

std::span<const Operation> attention_operations() {
  return kAttentions;
}

}  // namespace mpsprobe
