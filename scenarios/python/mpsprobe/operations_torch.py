"""torch's single operations: the table of mpsprobe-worker by what a Python program calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

from .call_torch import (
    ANY,
    BY_HAND,
    Call,
    Tensors,
    normalise_batch,
    one_normal,
    product,
    two_normal,
    with_layer,
)
from .comparison import Sizes, count_of
from .operation import FLOATING, NUMERIC, Operation
from .random_torch import Random


def reflectors(random: Random, sizes: Sizes) -> Tensors:
    """The identity matrix with one element set to 1: reflections that cost no accuracy."""
    rows = sizes[0]
    matrix = torch.eye(rows)
    row = int(random.uniform(0, rows, 1))
    matrix[row, int(random.uniform(0, rows, 1))] = 1
    return [matrix, random.normal(rows)]


def batch_normalisation(random: Random, sizes: Sizes) -> Tensors:
    channels = sizes[1]
    return [
        random.uniform(0.5, 1.5, channels),
        random.normal(channels),
        random.normal(channels),
        random.uniform(0.5, 1.5, channels),
    ]


def oom_mm(call: Call) -> Tensors:
    # A machine that has so much gives it, and it is let go: nothing was written there.
    try:
        torch.empty(call.sizes[3], 1 << 30, **call.with_type(torch.uint8))
    except (RuntimeError, MemoryError):
        pass  # what the operation is about: the next one has to work
    return [torch.mm(*call.inputs)]


def creation(name: str, summary: str, source: str, run: Callable[[Call], Any], **more: Any) -> Operation:
    row = {"shape": "1024", "dimensions": "count", "dtypes": NUMERIC, **more}
    return Operation(name, summary, source, run=lambda call: [run(call)], **row)


def filled(name: str, summary: str, run: Callable[[Call], Any], **more: Any) -> Operation:
    return creation(name, summary, "report 004", run, shape="100x100", dimensions=ANY, **more)


def of_elements(
    name: str, summary: str, source: str, run: Callable[..., Any], rounding: str = "exact", **more: Any
) -> Operation:
    row: dict[str, Any] = {
        "shape": "64x64",
        "dimensions": ANY,
        "dtypes": FLOATING,
        "inputs": one_normal,
        **more,
    }
    return Operation(name, summary, source, run=lambda call: [run(*call.inputs)], rounding=rounding, **row)


ROWS = (
    # out of nothing
    filled(
        "empty",
        "allocate a tensor, encode nothing",
        lambda c: torch.empty(c.sizes, **c.options),
        verify="layout",
        capturable=False,
    ),
    filled(
        "zeros",
        "a tensor of zeros (blit encoder on MPS)",
        lambda c: torch.zeros(c.sizes, **c.options),
    ),
    filled("ones", "a tensor of ones", lambda c: torch.ones(c.sizes, **c.options)),
    filled("full", "a tensor filled with one value", lambda c: torch.full(c.sizes, 3, **c.options)),
    creation(
        "randn",
        "normal random numbers from the device's own generator",
        "reports 002, 004",
        lambda c: torch.randn(c.sizes, **c.options),
        shape="64x64",
        dimensions=ANY,
        dtypes=FLOATING,
        verify="normal",
    ),
    creation(
        "arange",
        "0, 1, 2 ... up to a count",
        "pytorch/pytorch#197805",
        lambda c: torch.arange(c.sizes[0], **c.options),
        rounding="elementary",
    ),
    creation(
        "linspace",
        "a count of values from -1 to 1",
        "pytorch/pytorch#197805",
        lambda c: torch.linspace(-1, 1, c.sizes[0], **c.options),
        rounding="elementary",
        dtypes=FLOATING,
    ),
    creation(
        "range",
        "1, 2 ... up to a count, by the older call that includes its end",
        "pytorch/pytorch#197836",
        lambda c: torch.range(1, c.sizes[0], **c.options),
        rounding="elementary",
    ),
    creation(
        "logspace",
        "a count of powers of ten from 0.1 to 10",
        "pytorch/pytorch#197836",
        lambda c: torch.logspace(-1, 1, c.sizes[0], 10, **c.options),
        rounding="transcendental",
        dtypes=FLOATING,
    ),
    creation(
        "eye",
        "the identity matrix",
        "pytorch/pytorch#197836",
        lambda c: torch.eye(c.sizes[0], **c.options),
        shape="64",
        dimensions="rows",
    ),
    # on elements, and reductions
    of_elements(
        "add",
        "t1 + t2",
        "report 004",
        torch.add,
        "elementary",
        shape="100x100",
        dtypes=NUMERIC,
        inputs=two_normal,
    ),
    of_elements(
        "mul",
        "t1 * t2",
        "report 004",
        torch.mul,
        "elementary",
        shape="100x100",
        dtypes=NUMERIC,
        inputs=two_normal,
    ),
    of_elements("relu", "max(x, 0)", "reports 000, 002", torch.relu),
    of_elements(
        "gelu",
        "F.gelu(x), by the error function",
        BY_HAND + "control of layer_norm",
        functional.gelu,
        "transcendental",
    ),
    of_elements(
        "tanh",
        "tanh(x): a kernel whose pipeline all threads share on MPS",
        "pytorch/pytorch#167541",
        torch.tanh,
        "transcendental",
    ),
    of_elements(
        "softmax",
        "softmax over the last dimension (one cached graph for all threads on MPS)",
        "report 002",
        lambda x: torch.softmax(x, -1),
        "transcendental",
    ),
    of_elements(
        "renorm",
        "rows whose length is above 1 are shortened to 1",
        "pytorch/pytorch#197836",
        lambda x: torch.renorm(x, 2, 0, 1),
        "transcendental",
    ),
    Operation(
        "layer_norm",
        "nn.LayerNorm over the last dimension, with weight and bias",
        "report 003",
        "8x64",
        ANY,
        lambda c: [functional.layer_norm(c.inputs[0], c.sizes[-1:], *c.parameters, 1e-5)],
        "transcendental",
        dtypes=FLOATING,
        inputs=one_normal,
        parameters=lambda r, s: [r.uniform(0.5, 1.5, s[-1]), r.normal(s[-1])],
    ),
    Operation(
        "batch_norm",
        "nn.BatchNorm1d in eval mode, with weight, bias and running statistics",
        BY_HAND + "models of convolutions",
        "8x16x32",
        "batch x channels x length",
        lambda c: [normalise_batch(c.inputs[0], c.parameters)],
        "transcendental",
        dtypes=FLOATING,
        inputs=one_normal,
        parameters=batch_normalisation,
    ),
    of_elements(
        "sum",
        "sum of all elements",
        "pytorch/pytorch#197805",
        torch.sum,
        "accumulated",
        dtypes=NUMERIC,
        terms=count_of,
    ),
    of_elements(
        "nonzero",
        "indices of the elements that are not zero (waits for the device inside)",
        "pytorch/pytorch#100285",
        torch.nonzero,
        shape="32x32",
        dtypes=NUMERIC,
        capturable=False,
        inputs=lambda r, s: [torch.relu(r.normal(*s))],
    ),
    # products
    Operation(
        "householder_product",
        "torch.linalg.householder_product(A, tau), also called orgqr",
        "pytorch/pytorch#173972",
        "33",
        "rows",
        lambda c: [torch.linalg.householder_product(*c.inputs)],
        "accumulated",
        terms=lambda s: s[0],
        inputs=reflectors,
    ),
    product("mm", "torch.mm(a, b)", "report 002", lambda c: [torch.mm(*c.inputs)]),
    product(
        "oom_mm",
        "asks for more memory than there is, is refused, then torch.mm(a, b)",
        BY_HAND + "recovery where memory runs out",
        oom_mm,
        shape="64x64x64x100",
        dimensions="rows x inner x columns x GiB asked for",
        capturable=False,
    ),
    product(
        "bmm",
        "torch.bmm(a, b)",
        BY_HAND + "linear algebra in parallel",
        lambda c: [torch.bmm(*c.inputs)],
        shape="4x16x32x16",
        dimensions="batch x rows x inner x columns",
        terms=lambda s: s[2],
        inputs=lambda r, s: [r.normal(s[0], s[1], s[2]), r.normal(s[0], s[2], s[3])],
    ),
    product(
        "matmul",
        "torch.matmul(a, b)",
        "report 001",
        lambda c: [torch.matmul(*c.inputs)],
        made_of=("mm",),
    ),
    with_layer(
        "addmm",
        "torch.addmm(b, x, w.t())",
        "report 001",
        lambda c: torch.addmm(c.parameters[1], c.inputs[0], c.parameters[0].t()),
    ),
    with_layer(
        "matmul_bias",
        "x @ w.T + b, nn.Linear written out",
        "report 001",
        lambda c: c.inputs[0] @ c.parameters[0].T + c.parameters[1],
        made_of=("matmul", "add"),
    ),
    with_layer(
        "linear",
        "F.linear(x, w, b): aten::linear",
        "reports 000, 001, 002",
        lambda c: functional.linear(c.inputs[0], *c.parameters),
        ends_in_linear=True,
    ),
)
