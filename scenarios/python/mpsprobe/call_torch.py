"""What the rows of torch's operations share: the call, inputs and weights, rows of a kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from .comparison import Sizes
from .operation import FLOATING, Operation
from .random_torch import Random
from .transformer_torch import layer

Tensors = list[Any]
PRODUCT = "rows x inner x columns"
LAYER = "batch x in x out"
ANY = "any"
BY_HAND = "the reports' authors by hand: "
HEADS = "the model size is no multiple of the number of heads"


@dataclass
class Call:
    """Everything that one launch of an operation gets. The same operation is run with tensors of the
    device and, for the reference, of the CPU in a wider type: a `run` takes both from here alone."""

    sizes: Sizes
    inputs: Tensors
    parameters: Tensors
    options: dict[str, Any]  # device and type for an operation that creates tensors
    variant: int = 0  # which of a mix, by thread

    def with_type(self, dtype: Any) -> dict[str, Any]:
        return {**self.options, "dtype": dtype}


def one_normal(random: Random, sizes: Sizes) -> Tensors:
    return [random.normal(*sizes)]


def two_normal(random: Random, sizes: Sizes) -> Tensors:
    return [random.normal(*sizes), random.normal(*sizes)]


def factors(random: Random, sizes: Sizes) -> Tensors:
    return [random.normal(sizes[0], sizes[1]), random.normal(sizes[1], sizes[2])]


def batch(random: Random, sizes: Sizes) -> Tensors:
    return [random.normal(sizes[0], sizes[1])]


def sequences(random: Random, sizes: Sizes) -> Tensors:
    return [random.normal(*sizes[:3])]


def weight_and_bias(random: Random, sizes: Sizes) -> Tensors:
    return layer(random, sizes[2], sizes[1])


def inner(sizes: Sizes) -> int:
    return sizes[1]


def sixteen(_sizes: Sizes) -> int:
    """The errors of a projection, of the scores and of their weighted sum; of a layer's stages."""
    return 16


def refuse_heads(sizes: Sizes) -> str:
    return HEADS if sizes[2] % sizes[3] else ""


def normalise_batch(x: Any, learned: Tensors) -> Any:
    weight, bias, mean, variance = learned
    return torch.batch_norm(x, weight, bias, mean, variance, False, 0.1, 1e-5, False)


def product(name: str, summary: str, source: str, run: Callable[[Call], Tensors], **more: Any) -> Operation:
    row: dict[str, Any] = {
        "shape": "64x64x64",
        "dimensions": PRODUCT,
        "terms": inner,
        "inputs": factors,
        "dtypes": FLOATING,
        **more,
    }
    return Operation(name, summary, source, run=run, rounding="accumulated", **row)


def with_layer(name: str, summary: str, source: str, run: Callable[[Call], Any], **more: Any) -> Operation:
    row: dict[str, Any] = {
        "shape": "8x64x64",
        "dimensions": LAYER,
        "inputs": batch,
        "parameters": weight_and_bias,
        "dtypes": FLOATING,
        **more,
    }
    return Operation(name, summary, source, run=lambda call: [run(call)], rounding="accumulated", **row)


def model(name: str, summary: str, source: str, shape: str, dimensions: str, **more: Any) -> Operation:
    row = {"rounding": "accumulated", "dtypes": FLOATING, **more}
    return Operation(name, summary, source, shape, dimensions, **row)
