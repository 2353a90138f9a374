#pragma once

#include <string_view>

#include "scenarios/comparison/seeded_layers.h"
#include "scenarios/operations/operation.h"

namespace mpsprobe {

/// nn.TransformerEncoderLayer(d_model, nhead, dim_feedforward).eval() under torch.no_grad(), call
/// for call. Python's fast path, aten::_transformer_encoder_layer_fwd, is closed on MPS (its list
/// of device types is cpu, cuda, xpu and private ones, as is that of nn.MultiheadAttention), so
/// that on MPS the module always takes the written-out path: this one, on every backend, since the
/// CPU and the simulated device stand in for MPS here. Without a gradient, as applications run
/// inference; scaled_dot_product_attention takes its MPS kernel only then. Parameters: in_proj,
/// out_proj, linear1, linear2, norm1, norm2, each weight then bias.
Tensors run_transformer_layer(const Call& call);

/// Appends the parameters of one layer of these sizes, in that order.
void append_transformer_layer(Tensors& parameters, Random& random, const Sizes& sizes);

/// Terms of a result, for its tolerance: two normalisations bring the numbers back to one, so that
/// the errors of the layer's stages (four products, attention, two sums, two normalisations) add up
/// instead of growing.
int64_t transformer_layer_terms(const Sizes& sizes);

/// The model size must be a multiple of the number of heads.
std::string_view refuse_transformer_layer(const Sizes& sizes);

}  // namespace mpsprobe
