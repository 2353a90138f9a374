"""torch's attention, mixes and models: the table of mpsprobe-worker by what a Python program calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

from .call_torch import (
    ANY,
    BY_HAND,
    PRODUCT,
    Call,
    Tensors,
    batch,
    inner,
    model,
    normalise_batch,
    refuse_heads,
    sequences,
    sixteen,
    with_layer,
)
from .comparison import Sizes
from .operation import FLOATING, Operation
from .transformer_torch import (
    encoder_parameters,
    layer,
    normalisation,
    transformer,
    transformer_encoder,
    transformer_parameters,
)

UNARY = {
    name: getattr(torch, name)
    for name in (
        *("tanh", "abs", "sin", "cos", "tan", "asin", "acos", "atan"),
        *("sqrt", "rsqrt", "neg", "exp2", "log10", "log2", "log"),
    )
}


def raw(call: Call) -> Tensors:
    rows, inner_size, columns = call.sizes
    a = torch.randn(rows, inner_size, **call.options)
    b = torch.randn(inner_size, columns, **call.options)
    return [a, b, torch.relu(torch.mm(a, b))]


def ranges(call: Call) -> Tensors:
    count = call.sizes[0]
    # The reference asks for a wide type and so gets all three in it.
    wide = call.options["dtype"] == torch.float64
    results = []
    for dtype in (torch.float32, torch.float16, torch.int32):
        options = call.with_type(torch.float64 if wide else dtype)
        results.append(torch.arange(count, **options))
        if dtype == torch.int32:
            results.append(torch.sum(results[-1]))
            continue
        # From 0 to 1: the sum of float16 values stays far from 65504.
        results.append(torch.linspace(0, 1, count, **options))
        results.append(torch.sum(results[-1]))
    return results


def attention(contiguous: bool) -> Callable[[Call], Tensors]:
    """Query, key and value of one projection, one behind the other along a new first dimension, as
    nn.MultiheadAttention unpacks them; the heads stay apart at the end."""

    def run(call: Call) -> Tensors:
        batch_size, sequence, model, heads = call.sizes
        packed = functional.linear(call.inputs[0], call.parameters[0], call.parameters[1])
        packed = packed.unflatten(-1, (3, model)).unsqueeze(0).transpose(0, -2).squeeze(-2)
        if contiguous:
            packed = packed.contiguous()
            parts = [packed[i].view(batch_size, sequence, heads, -1).transpose(1, 2) for i in range(3)]
        else:
            parts = [packed[i].reshape(batch_size, sequence, heads, -1).transpose(1, 2) for i in range(3)]
        return [functional.scaled_dot_product_attention(*parts)]

    return run


def convolved(x: Any, own: Tensors) -> Any:
    return torch.relu(normalise_batch(functional.conv2d(x, own[0], own[1]), own[2:6]))


def conv_stack(call: Call) -> Tensors:
    own = call.parameters
    first = torch.relu(functional.conv1d(call.inputs[0], own[0], own[1]))
    second = torch.relu(functional.conv1d(first, own[2], own[3]))
    return [functional.conv1d(second, own[4], own[5])]


def stack_of_linear(call: Call) -> Tensors:
    x, own = call.inputs[0], call.parameters
    for i in range(0, len(own), 2):
        x = functional.linear(x if i == 0 else torch.relu(x), own[i], own[i + 1])
    return [x]


def model_mix(call: Call) -> Tensors:
    x, own = call.inputs[0], call.parameters
    if call.variant % 3 == 2:
        return [functional.conv1d(x.unsqueeze(1), own[4], own[5])]
    first = functional.linear(x, own[0], own[1])
    if call.variant % 3 == 0:
        return [first]
    return [functional.linear(torch.relu(first), own[2], own[3])]


def longer(kernel: int, *lengths: int) -> Callable[[Sizes], str]:
    words = (
        "the kernel is longer than the input"
        if len(lengths) == 1
        else ("the kernel is larger than the input")
    )
    return lambda s: words if s[kernel] > min(s[i] for i in lengths) else ""


ROWS = (
    # attention
    model(
        "sdpa",
        "F.scaled_dot_product_attention(q, k, v)",
        BY_HAND + "attention by its parts",
        "2x4x16x16",
        "batch x heads x sequence x head",
        run=lambda c: [functional.scaled_dot_product_attention(*c.inputs)],
        terms=sixteen,
        inputs=lambda r, s: [r.normal(*s), r.normal(*s), r.normal(*s)],
    ),
    *(
        model(
            name,
            summary,
            BY_HAND + why,
            "2x16x32x4",
            "batch x sequence x model x heads",
            run=attention(contiguous),
            made_of=("linear", "sdpa"),
            refuse=refuse_heads,
            terms=sixteen,
            inputs=sequences,
            parameters=lambda r, s: layer(r, 3 * s[2], s[2]),
            ends_in_linear=True,
        )
        for name, contiguous, summary, why in (
            (
                "attention",
                True,
                "packed projection, contiguous(), attention: nn.MultiheadAttention's way",
                "wrong numbers after contiguous()",
            ),
            (
                "attention_strided",
                False,
                "packed projection, attention: the same without contiguous()",
                "the control of attention",
            ),
        )
    ),
    # mixes
    Operation(
        "raw",
        "randn, randn, mm, relu: the reports' raw tensor operations",
        "reports 000, 002",
        "64x64x64",
        PRODUCT,
        raw,
        "accumulated",
        verify="raw",
        dtypes=FLOATING,
        made_of=("randn", "mm", "relu"),
        terms=inner,
    ),
    Operation(
        "unary_mix",
        "15 different unary functions of one tensor at once, thread k runs the k-th",
        "pytorch/pytorch#167541",
        "64x64",
        ANY,
        lambda c: [list(UNARY.values())[c.variant % len(UNARY)](c.parameters[0])],
        "transcendental",
        dtypes=FLOATING,
        # Where all fifteen are defined and well conditioned. A parameter, so that all threads share it.
        parameters=lambda r, s: [r.uniform(0.1, 0.9, *s)],
        variants=tuple(UNARY),
    ),
    Operation(
        "range_mix",
        "arange, linspace and sum in float32, float16 and int32",
        "pytorch/pytorch#197805",
        "1024",
        "count",
        ranges,
        "accumulated",
        dtypes=(),
        made_of=("arange", "linspace", "sum"),
        refuse=lambda s: "float16 cannot count beyond 2048" if s[0] > 2048 else "",
        terms=lambda s: s[0],
    ),
    # models
    with_layer(
        "linear_module",
        "nn.Linear: aten::linear with parameters that require a gradient",
        "reports 000, 001, 002, 003",
        lambda c: functional.linear(c.inputs[0], *c.parameters),
        made_of=("linear",),
        ends_in_linear=True,
        records_gradient=True,
    ),
    model(
        "mlp",
        "nn.Sequential(Linear, ReLU, Linear)",
        "reports 002, 003",
        "8x64x128x64",
        "batch x in x hidden x out",
        run=stack_of_linear,
        made_of=("linear", "relu"),
        inputs=batch,
        parameters=lambda r, s: [*layer(r, s[2], s[1]), *layer(r, s[3], s[2])],
        ends_in_linear=True,
        records_gradient=True,
    ),
    model(
        "conv1d",
        "nn.Conv1d, stride 1, no padding",
        "report 003",
        "2x4x8x64x3",
        "batch x in x out x length x kernel",
        run=lambda c: [functional.conv1d(c.inputs[0], *c.parameters)],
        refuse=longer(4, 3),
        inputs=lambda r, s: [r.normal(s[0], s[1], s[3])],
        parameters=lambda r, s: layer(r, s[2], s[1], s[4]),
        records_gradient=True,
    ),
    model(
        "conv2d",
        "nn.Conv2d, stride 1, no padding",
        "report 003",
        "2x3x8x16x16x3",
        "batch x in x out x height x width x kernel",
        run=lambda c: [functional.conv2d(c.inputs[0], *c.parameters)],
        refuse=longer(5, 3, 4),
        inputs=lambda r, s: [r.normal(s[0], s[1], s[3], s[4])],
        parameters=lambda r, s: layer(r, s[2], s[1], s[5], s[5]),
        records_gradient=True,
    ),
    model(
        "transformer_layer",
        "nn.TransformerEncoderLayer in eval mode",
        "report 003",
        "8x2x32x4x64",
        "sequence x batch x model x heads x feedforward",
        run=lambda c: [transformer(c.inputs[0], c.parameters, c.sizes)],
        made_of=("linear", "layer_norm", "relu", "add"),
        refuse=refuse_heads,
        terms=sixteen,
        inputs=sequences,
        parameters=transformer_parameters,
        ends_in_linear=True,
    ),
    model(
        "mlp3",
        "nn.Sequential(Linear, ReLU, Linear, ReLU, Linear)",
        BY_HAND + "models of three linear layers",
        "8x64x128x64",
        "batch x in x hidden x out",
        run=stack_of_linear,
        made_of=("linear", "relu", "mlp"),
        inputs=batch,
        parameters=lambda r, s: [*layer(r, s[2], s[1]), *layer(r, s[2], s[2]), *layer(r, s[3], s[2])],
        ends_in_linear=True,
        records_gradient=True,
    ),
    model(
        "conv_stack",
        "nn.Sequential(Conv1d(1, C), ReLU, Conv1d(C, C), ReLU, Conv1d(C, 1)), no padding",
        BY_HAND + "real models in parallel",
        "2x8x64x3",
        "batch x channels x length x kernel",
        run=conv_stack,
        made_of=("conv1d", "relu"),
        refuse=lambda s: "three kernels are longer than the input" if 3 * (s[3] - 1) >= s[2] else "",
        inputs=lambda r, s: [r.normal(s[0], 1, s[2])],
        parameters=lambda r, s: [
            *layer(r, s[1], 1, s[3]),
            *layer(r, s[1], s[1], s[3]),
            *layer(r, 1, s[1], s[3]),
        ],
        records_gradient=True,
    ),
    model(
        "conv_net",
        "nn.Sequential(Conv2d, BatchNorm2d, ReLU, Conv2d, BatchNorm2d, ReLU) in eval mode",
        BY_HAND + "convolutions with BatchNorm",
        "2x3x8x16x16x3",
        "batch x in x channels x height x width x kernel",
        run=lambda c: [convolved(convolved(c.inputs[0], c.parameters[:6]), c.parameters[6:])],
        made_of=("conv2d", "batch_norm", "relu"),
        refuse=lambda s: "two kernels are larger than the input" if 2 * (s[5] - 1) >= min(s[3], s[4]) else "",
        inputs=lambda r, s: [r.normal(s[0], s[1], s[3], s[4])],
        parameters=lambda r, s: [
            *layer(r, s[2], s[1], s[5], s[5]),
            *normalisation(r, s[2]),
            *layer(r, s[2], s[2], s[5], s[5]),
            *normalisation(r, s[2]),
        ],
    ),
    model(
        "model_mix",
        "another model in each thread: Linear, Linear-ReLU-Linear, Conv1d",
        BY_HAND + "models of several kinds at once",
        "8x64x3",
        "batch x features x kernel",
        run=model_mix,
        made_of=("linear", "mlp", "conv1d"),
        refuse=lambda s: "the kernel is longer than the features" if s[2] > s[1] else "",
        inputs=batch,
        parameters=lambda r, s: [
            *layer(r, s[1], s[1]),
            *layer(r, s[1], s[1]),
            *layer(r, 1, 1, s[2]),
        ],
        variants=("linear", "mlp", "conv1d"),
        records_gradient=True,
    ),
    model(
        "transformer_encoder",
        "nn.TransformerEncoder: several transformer layers in eval mode",
        BY_HAND + "two layers and six",
        "8x2x32x4x64x2",
        "sequence x batch x model x heads x feedforward x layers",
        run=lambda c: [transformer_encoder(c.inputs[0], c.parameters, c.sizes)],
        made_of=("transformer_layer", "linear", "layer_norm", "relu", "add"),
        refuse=refuse_heads,
        # Each layer is normalised at its end, so that the errors of layers add up.
        terms=lambda s: 16 * s[5],
        inputs=sequences,
        parameters=encoder_parameters,
        ends_in_linear=True,
    ),
)
