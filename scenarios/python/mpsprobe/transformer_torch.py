"""Layers and models of torch's: the calls that the modules of torch.nn make, in their order.

A transformer layer is nn.TransformerEncoderLayer(d_model, nhead, dim_feedforward).eval() under
torch.no_grad(), written out as on MPS, where Python's fast path is closed: see
scenarios/models/layers.h.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.nn import functional

from .comparison import Sizes, count_of
from .random_torch import Random

Tensors = list[Any]
OF_A_LAYER = 12  # parameters


def layer(random: Random, *weight: int) -> Tensors:
    """Weight and bias in the range that nn.Linear and nn.Conv start with: 1/sqrt(terms of one output),
    so that results stay near one. Outputs first."""
    bound = 1 / math.sqrt(count_of(weight) // weight[0])
    return [random.uniform(-bound, bound, *weight), random.uniform(-bound, bound, weight[0])]


def normalisation(random: Random, channels: int) -> Tensors:
    return [
        random.uniform(0.5, 1.5, channels),
        random.uniform(-0.5, 0.5, channels),
        random.uniform(-0.5, 0.5, channels),  # running mean
        random.uniform(0.5, 1.5, channels),  # running variance
    ]


def transformer_parameters(random: Random, sizes: Sizes) -> Tensors:
    """in_proj, out_proj, linear1, linear2, norm1, norm2, each weight then bias."""
    model, feedforward = sizes[2], sizes[4]
    parameters = [
        *layer(random, 3 * model, model),
        *layer(random, model, model),
        *layer(random, feedforward, model),
        *layer(random, model, feedforward),
    ]
    for _norm in range(2):
        parameters += [random.uniform(0.5, 1.5, model), random.uniform(-0.5, 0.5, model)]
    return parameters


def encoder_parameters(random: Random, sizes: Sizes) -> Tensors:
    return [each for _layer in range(sizes[5]) for each in transformer_parameters(random, sizes)]


def dropout(x: Any) -> Any:
    """A module's makes its call in eval mode too; it hands its input through."""
    return torch.dropout(x, 0.1, False)


def self_attention(x: Any, own: Tensors, sizes: Sizes) -> Any:
    sequence, batch, model, heads = sizes[:4]
    head = model // heads
    # Query, key and value in one projection.
    packed = functional.linear(x, own[0], own[1]).unflatten(-1, (3, model))
    packed = packed.unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
    parts = [
        packed[i].view(sequence, batch * heads, head).transpose(0, 1).view(batch, heads, sequence, head)
        for i in range(3)
    ]
    attended = functional.scaled_dot_product_attention(*parts)
    attended = attended.permute(2, 0, 1, 3).reshape(batch * sequence, model)
    return functional.linear(attended, own[2], own[3]).view(sequence, batch, model)


def transformer(x: Any, own: Tensors, sizes: Sizes) -> Any:
    def normalise(y: Any, first: int) -> Any:
        return functional.layer_norm(y, (sizes[2],), own[first], own[first + 1], 1e-5)

    attended = normalise(x + dropout(self_attention(x, own, sizes)), 8)
    hidden = dropout(torch.relu(functional.linear(attended, own[4], own[5])))
    return normalise(attended + dropout(functional.linear(hidden, own[6], own[7])), 10)


def transformer_encoder(x: Any, own: Tensors, sizes: Sizes) -> Any:
    for first in range(0, len(own), OF_A_LAYER):
        x = transformer(x, own[first : first + OF_A_LAYER], sizes)
    return x
