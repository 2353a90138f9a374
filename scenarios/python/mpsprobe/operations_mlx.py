"""MLX's operations: those of the matrices `mlx`, `mlx-known`, `affected` and `default`, and what they are
made of, by what a Python program calls. Every other one is mpsprobe-mlx-worker's."""

from __future__ import annotations

import math

import mlx.core as mx

from .comparison import Numbers, Sizes, Values, count_of
from .operation import Operation, by_name
from .program import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Arrays = list


@record
class Call:
    """Everything that one launch of an operation gets. Every call takes its stream from here."""

    sizes: Sizes
    inputs: Arrays
    parameters: Arrays
    stream: Any
    variant: int = 0  # which of a mix, by thread


# ---- inputs and weights ---------------------------------------------------------------------------


def one_normal(numbers: Numbers, sizes: Sizes) -> list[Values]:
    return [numbers.normal(*sizes)]


def two_normal(numbers: Numbers, sizes: Sizes) -> list[Values]:
    return [numbers.normal(*sizes), numbers.normal(*sizes)]


def factors(numbers: Numbers, sizes: Sizes) -> list[Values]:
    return [numbers.normal(sizes[0], sizes[1]), numbers.normal(sizes[1], sizes[2])]


def batch(numbers: Numbers, sizes: Sizes) -> list[Values]:
    return [numbers.normal(sizes[0], sizes[1])]


def layer(numbers: Numbers, outputs: int, terms: int) -> list[Values]:
    """Weight and bias in the range that mlx.nn starts with, so that results stay near one."""
    bound = 1 / math.sqrt(terms)
    return [numbers.uniform(-bound, bound, outputs, terms), numbers.uniform(-bound, bound, outputs)]


def transformer_parameters(numbers: Numbers, sizes: Sizes) -> list[Values]:
    model, feedforward = sizes[2], sizes[4]
    parameters = [
        *layer(numbers, 3 * model, model),
        *layer(numbers, model, model),
        *layer(numbers, feedforward, model),
        *layer(numbers, model, feedforward),
    ]
    for _norm in range(2):
        parameters += [numbers.uniform(0.5, 1.5, model), numbers.uniform(-0.5, 0.5, model)]
    return parameters


# ---- calls ----------------------------------------------------------------------------------------


def relu(call: Call, x: Any) -> Any:
    return mx.maximum(x, mx.array(0.0), stream=call.stream)


def normal(call: Call, *sizes: int) -> Any:
    return mx.random.normal(sizes, mx.float32, stream=call.stream)


def raw(call: Call) -> Arrays:
    a = normal(call, call.sizes[0], call.sizes[1])
    b = normal(call, call.sizes[1], call.sizes[2])
    return [a, b, relu(call, mx.matmul(a, b, stream=call.stream))]


def ranges(call: Call) -> Arrays:
    count, stream = call.sizes[0], call.stream
    results = []
    for dtype in (mx.float32, mx.float16, mx.int32):
        counted = mx.arange(0, count, 1, dtype=dtype, stream=stream)
        results.append(counted)
        if dtype == mx.int32:
            results.append(mx.sum(counted, stream=stream))
            continue
        # From 0 to 1: the sum of float16 values stays far from 65504.
        results.append(mx.linspace(0, 1, count, dtype=dtype, stream=stream))
        results.append(mx.sum(results[-1], stream=stream))
    return results


# The functions of the mix on LibTorch: thread k runs number k.
UNARY = {
    "exp": mx.exp,
    "log": mx.log,
    "sqrt": mx.sqrt,
    "rsqrt": mx.rsqrt,
    "sin": mx.sin,
    "cos": mx.cos,
    "tan": mx.tan,
    "tanh": mx.tanh,
    "sigmoid": mx.sigmoid,
    "erf": mx.erf,
    "abs": mx.abs,
    "neg": mx.negative,
    "floor": mx.floor,
    "ceil": mx.ceil,
    "reciprocal": mx.reciprocal,
}


def unary(call: Call) -> Arrays:
    return [list(UNARY.values())[call.variant % len(UNARY)](call.inputs[0], stream=call.stream)]


def linear(call: Call, x: Any, first: int) -> Any:
    """mlx.nn.Linear. `first` is the weight, after it comes the bias."""
    weight = mx.transpose(call.parameters[first], stream=call.stream)
    return mx.addmm(call.parameters[first + 1], x, weight, stream=call.stream)


def normalise(call: Call, x: Any, first: int) -> Any:
    return mx.fast.layer_norm(x, call.parameters[first], call.parameters[first + 1], 1e-5, stream=call.stream)


def self_attention(call: Call, x: Any) -> Any:
    """Written out, since the fused call's arguments changed between releases."""
    sequence, batch_size, model, heads = call.sizes[:4]
    head, s = model // heads, call.stream
    # Query, key and value in one projection.
    packed = mx.reshape(linear(call, x, 0), (sequence, batch_size, 3, heads, head), stream=s)
    query, key, value = (
        mx.transpose(mx.squeeze(part, 2, stream=s), (1, 2, 0, 3), stream=s)
        for part in mx.split(packed, 3, axis=2, stream=s)
    )
    scaled = mx.multiply(query, mx.array(1 / math.sqrt(head)), stream=s)
    scores = mx.matmul(scaled, mx.transpose(key, (0, 1, 3, 2), stream=s), stream=s)
    attended = mx.matmul(mx.softmax(scores, axis=-1, stream=s), value, stream=s)
    joined = mx.transpose(attended, (2, 0, 1, 3), stream=s)
    return linear(call, mx.reshape(joined, (sequence, batch_size, model), stream=s), 2)


def transformer_layer(call: Call) -> Arrays:
    x = call.inputs[0]
    attended = normalise(call, mx.add(x, self_attention(call, x), stream=call.stream), 8)
    fed = linear(call, relu(call, linear(call, attended, 4)), 6)
    return [normalise(call, mx.add(attended, fed, stream=call.stream), 10)]


def chain(call: Call) -> Arrays:
    product = mx.matmul(call.inputs[0], call.parameters[0], stream=call.stream)
    return [mx.sum(mx.tanh(product, stream=call.stream), stream=call.stream)]


def transform(call: Call) -> Arrays:
    """Traced anew in each launch, as a program does that makes its function where it needs it."""

    def whole(x: Any) -> Any:
        return chain(Call(call.sizes, [x], call.parameters, call.stream))[0]

    def row(x: Any) -> Any:
        return whole(mx.expand_dims(x, 0, stream=call.stream))

    function = (mx.grad(whole), mx.vmap(row), mx.compile(whole))[call.variant % 3]
    return [function(call.inputs[0])]


# ---- the table ------------------------------------------------------------------------------------

PRODUCT = "rows x inner x columns"
ANY = "any"


def inner(sizes: Sizes) -> int:
    return sizes[1]


def way(name: str, summary: str, issue: int, evaluation: str, *made_of: str) -> Operation:
    """One piece of work, sum(tanh(x @ w)), by one of the ways in which MLX is asked to compute."""
    return Operation(
        name,
        summary,
        f"ml-explore/mlx#{issue}",
        "16x16x16",
        PRODUCT,
        chain,
        "accumulated",
        evaluation=evaluation,
        made_of=made_of,
        terms=lambda s: s[0] * s[2],  # tanh is at most one, and what it gives is summed
        inputs=batch,
        parameters=lambda n, s: [n.uniform(-0.25, 0.25, s[1], s[2])],
    )


OPERATIONS = by_name(
    (
        Operation(
            "add",
            "mx.add(a, b)",
            "report 004",
            "100x100",
            ANY,
            lambda c: [mx.add(*c.inputs, stream=c.stream)],
            "elementary",
            inputs=two_normal,
        ),
        Operation(
            "mm",
            "mx.matmul(a, b)",
            "report 002; the authors' mlx_threading_test",
            "64x64x64",
            PRODUCT,
            lambda c: [mx.matmul(*c.inputs, stream=c.stream)],
            "accumulated",
            terms=inner,
            inputs=factors,
        ),
        Operation(
            "relu",
            "mx.maximum(x, 0)",
            "reports 000, 002",
            "64x64",
            ANY,
            lambda c: [relu(c, c.inputs[0])],
            inputs=one_normal,
        ),
        Operation(
            "softmax",
            "mx.softmax over the last dimension",
            "report 002",
            "64x64",
            ANY,
            lambda c: [mx.softmax(c.inputs[0], axis=-1, stream=c.stream)],
            "transcendental",
            inputs=one_normal,
        ),
        Operation(
            "layer_norm",
            "mx.fast.layer_norm over the last dimension, with weight and bias",
            "report 003",
            "8x64",
            ANY,
            lambda c: [normalise(c, c.inputs[0], 0)],
            "transcendental",
            inputs=one_normal,
            parameters=lambda n, s: [n.uniform(0.5, 1.5, s[-1]), n.normal(s[-1])],
        ),
        Operation(
            "sum",
            "mx.sum of all elements",
            "pytorch/pytorch#197805",
            "64x64",
            ANY,
            lambda c: [mx.sum(c.inputs[0], stream=c.stream)],
            "accumulated",
            terms=count_of,
            inputs=one_normal,
        ),
        Operation(
            "arange",
            "mx.arange up to a count",
            "pytorch/pytorch#197805",
            "1024",
            "count",
            lambda c: [mx.arange(0, c.sizes[0], 1, dtype=mx.float32, stream=c.stream)],
            "elementary",
        ),
        Operation(
            "linspace",
            "mx.linspace: a count of values from -1 to 1",
            "pytorch/pytorch#197805",
            "1024",
            "count",
            lambda c: [mx.linspace(-1, 1, c.sizes[0], dtype=mx.float32, stream=c.stream)],
            "elementary",
        ),
        Operation(
            "randn",
            "mx.random.normal, with MLX's own keys",
            "reports 002, 004",
            "64x64",
            ANY,
            lambda c: [normal(c, *c.sizes)],
            verify="normal",
        ),
        Operation(
            "draws",
            "as randn; no two threads may draw the same numbers",
            "ml-explore/mlx#4234",
            "64x64",
            ANY,
            lambda c: [normal(c, *c.sizes)],
            verify="unlike",
        ),
        Operation(
            "raw",
            "random, random, matmul, relu: the reports' raw tensor operations",
            "reports 000, 002",
            "64x64x64",
            PRODUCT,
            raw,
            "accumulated",
            verify="raw",
            made_of=("randn", "mm", "relu"),
            terms=inner,
        ),
        Operation(
            "unary_mix",
            "15 different unary functions at once, thread k runs the k-th",
            "pytorch/pytorch#167541",
            "64x64",
            ANY,
            unary,
            "transcendental",
            # Where all fifteen are defined and well conditioned.
            inputs=lambda n, s: [n.uniform(0.25, 1.25, *s)],
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
            made_of=("arange", "linspace", "sum"),
            refuse=lambda s: "float16 cannot count beyond 2048" if s[0] > 2048 else "",
            terms=lambda s: s[0],
        ),
        Operation(
            "linear",
            "mlx.nn.Linear: mx.addmm(b, x, w.T)",
            "reports 000, 001, 002",
            "8x64x64",
            "batch x in x out",
            lambda c: [linear(c, c.inputs[0], 0)],
            "accumulated",
            inputs=batch,
            parameters=lambda n, s: layer(n, s[2], s[1]),
        ),
        Operation(
            "mlp",
            "mlx.nn.Sequential(Linear, ReLU, Linear)",
            "reports 002, 003",
            "8x64x128x64",
            "batch x in x hidden x out",
            lambda c: [linear(c, relu(c, linear(c, c.inputs[0], 0)), 2)],
            "accumulated",
            made_of=("linear", "relu"),
            inputs=batch,
            parameters=lambda n, s: [*layer(n, s[2], s[1]), *layer(n, s[3], s[2])],
        ),
        Operation(
            "transformer_layer",
            "a transformer's encoder layer: attention, feed-forward, two normalisations",
            "report 003",
            "8x2x32x4x64",
            "sequence x batch x model x heads x feedforward",
            transformer_layer,
            "accumulated",
            made_of=("linear", "layer_norm", "softmax", "mm"),
            refuse=lambda s: "the model size is no multiple of the number of heads" if s[2] % s[3] else "",
            terms=lambda _s: 16,  # the errors of its stages add up
            inputs=lambda n, s: [n.normal(s[0], s[1], s[2])],
            parameters=transformer_parameters,
        ),
        way("chain", "mx.eval(sum(tanh(x @ w)))", 3078, "waits", "mm", "sum"),
        way("async_eval", "mx.async_eval of the chain; synchronise waits", 3078, "async", "chain"),
        way("lazy", "the same lazy chain evaluated by all threads", 3727, "shared", "chain"),
        way("compiled", "mx.compile of the chain, one function for all threads", 3078, "compiled", "chain"),
        way(
            "released",
            "mx.compile of the chain, after another function was released off its thread",
            3940,
            "released",
            "chain",
        ),
        Operation(
            "transforms",
            "gradient, vmap and compile of the chain: thread k does the k-th",
            "ml-explore/mlx#3638",
            "16x16x16",
            PRODUCT,
            transform,
            "accumulated",
            made_of=("chain",),
            terms=lambda s: s[0] * s[1] * s[2],
            inputs=batch,
            parameters=lambda n, s: [n.uniform(-0.25, 0.25, s[1], s[2])],
            variants=("gradient", "vmap", "compile"),
        ),
    )
)
