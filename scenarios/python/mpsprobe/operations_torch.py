"""torch's operations: those of the matrices `affected` and `default`, and what they are made of, by what a
Python program calls. Every other one is mpsprobe-worker's."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

from .comparison import Sizes
from .operation import FLOATING, NUMERIC, Operation, by_name
from .random_torch import Random

Tensors = list[Any]
ANY = "any"


@dataclass
class Call:
    """Everything that one launch of an operation gets. The same operation is run with tensors of the
    device and, for the reference, of the CPU in a wider type: a `run` takes both from here alone."""

    sizes: Sizes
    inputs: Tensors
    parameters: Tensors
    options: dict[str, Any]  # device and type for an operation that creates tensors
    variant: int = 0  # which of a mix, by thread


def one_normal(random: Random, sizes: Sizes) -> Tensors:
    return [random.normal(*sizes)]


def batch(random: Random, sizes: Sizes) -> Tensors:
    return [random.normal(sizes[0], sizes[1])]


def inner(sizes: Sizes) -> int:
    return sizes[1]


def layer(random: Random, outputs: int, terms: int) -> Tensors:
    """Weight and bias in the range that nn.Linear starts with: 1/sqrt(terms of one output), so that
    results stay near one."""
    bound = 1 / math.sqrt(terms)
    return [random.uniform(-bound, bound, outputs, terms), random.uniform(-bound, bound, outputs)]


def raw(call: Call) -> Tensors:
    rows, inner_size, columns = call.sizes
    a = torch.randn(rows, inner_size, **call.options)
    b = torch.randn(inner_size, columns, **call.options)
    return [a, b, torch.relu(torch.mm(a, b))]


def mlp(call: Call) -> Tensors:
    hidden = torch.relu(functional.linear(call.inputs[0], *call.parameters[:2]))
    return [functional.linear(hidden, *call.parameters[2:])]


UNARY = {
    name: getattr(torch, name)
    for name in (
        *("tanh", "abs", "sin", "cos", "tan", "asin", "acos", "atan"),
        *("sqrt", "rsqrt", "neg", "exp2", "log10", "log2", "log"),
    )
}


def row(
    name: str,
    summary: str,
    source: str,
    shape: str,
    dimensions: str,
    run: Callable[[Call], Tensors],
    rounding: str = "exact",
    **more: Any,
) -> Operation:
    return Operation(name, summary, source, shape, dimensions, run, rounding, **{"dtypes": FLOATING, **more})


OPERATIONS = by_name(
    (
        row(
            "randn",
            "normal random numbers from the device's own generator",
            "reports 002, 004",
            "64x64",
            ANY,
            lambda c: [torch.randn(c.sizes, **c.options)],
            verify="normal",
        ),
        row(
            "arange",
            "0, 1, 2 ... up to a count",
            "pytorch/pytorch#197805",
            "1024",
            "count",
            lambda c: [torch.arange(c.sizes[0], **c.options)],
            "elementary",
            dtypes=NUMERIC,
        ),
        row(
            "add",
            "t1 + t2",
            "report 004",
            "100x100",
            ANY,
            lambda c: [torch.add(*c.inputs)],
            "elementary",
            dtypes=NUMERIC,
            inputs=lambda r, s: [r.normal(*s), r.normal(*s)],
        ),
        row(
            "relu",
            "max(x, 0)",
            "reports 000, 002",
            "64x64",
            ANY,
            lambda c: [torch.relu(*c.inputs)],
            inputs=one_normal,
        ),
        row(
            "mm",
            "torch.mm(a, b)",
            "report 002",
            "64x64x64",
            "rows x inner x columns",
            lambda c: [torch.mm(*c.inputs)],
            "accumulated",
            terms=inner,
            inputs=lambda r, s: [r.normal(s[0], s[1]), r.normal(s[1], s[2])],
        ),
        row(
            "raw",
            "randn, randn, mm, relu: the reports' raw tensor operations",
            "reports 000, 002",
            "64x64x64",
            "rows x inner x columns",
            raw,
            "accumulated",
            verify="raw",
            made_of=("randn", "mm", "relu"),
            terms=inner,
        ),
        row(
            "unary_mix",
            "15 different unary functions of one tensor at once, thread k runs the k-th",
            "pytorch/pytorch#167541",
            "64x64",
            ANY,
            lambda c: [list(UNARY.values())[c.variant % len(UNARY)](c.parameters[0])],
            "transcendental",
            # Where all fifteen are defined and well conditioned. A parameter, so that all threads share it.
            parameters=lambda r, s: [r.uniform(0.1, 0.9, *s)],
            variants=tuple(UNARY),
        ),
        row(
            "linear",
            "F.linear(x, w, b): aten::linear",
            "reports 000, 001, 002",
            "8x64x64",
            "batch x in x out",
            lambda c: [functional.linear(c.inputs[0], *c.parameters)],
            "accumulated",
            inputs=batch,
            parameters=lambda r, s: layer(r, s[2], s[1]),
            ends_in_linear=True,
        ),
        row(
            "mlp",
            "nn.Sequential(Linear, ReLU, Linear)",
            "reports 002, 003",
            "8x64x128x64",
            "batch x in x hidden x out",
            mlp,
            "accumulated",
            made_of=("linear", "relu"),
            inputs=batch,
            parameters=lambda r, s: [*layer(r, s[2], s[1]), *layer(r, s[3], s[2])],
            ends_in_linear=True,
            records_gradient=True,
        ),
    )
)
