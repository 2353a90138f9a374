"""One entry of an operation table: what both frameworks' tables say of an operation.

Names, shapes, texts, tolerances and what is made of what are those of the C++ workers' tables
(scenarios/operations, scenarios/models, scenarios/mlx); parity_test.py holds them against each other.
"""

from __future__ import annotations

from .comparison import Sizes, read_shape, refuse_shape
from .program import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

FLOATING = ("float32", "float16", "bfloat16")
NUMERIC = (*FLOATING, "int32", "int64")


def one(_sizes: Sizes) -> int:
    return 1


def nothing_more(_sizes: Sizes) -> str:
    return ""


@record
class Operation:
    name: str
    summary: str  # one line, for `list`
    source: str  # the report or the public issue that asks for it
    shape: str  # default sizes
    dimensions: str  # what the sizes mean; "any" where free
    run: Callable[..., list[Any]]  # of a call
    rounding: str = "exact"
    verify: str = "compare"
    made_of: tuple[str, ...] = ()  # operations of the table that are part of this one
    dtypes: tuple[str, ...] = ("float32",)  # the first is the default; none: types of its own
    refuse: Callable[[Sizes], str] = nothing_more  # what is wrong with these sizes
    terms: Callable[[Sizes], int] = one  # that a result element is a sum of
    inputs: Callable[..., list[Any]] | None = None  # of seeded numbers and sizes
    parameters: Callable[..., list[Any]] | None = None
    variants: tuple[str, ...] = ()  # what lane k of a mix executes, for the flight recorder
    evaluation: str = "waits"  # MLX: how a launch has its lazy arrays computed
    ends_in_linear: bool = False  # torch: the layout of its weights selects the path
    records_gradient: bool = False  # torch: the parameters require one, as a module's do

    def sizes_of(self, shape: str) -> Sizes:
        """Those that a cell's `shape` asks for. Raises Unsupported."""
        sizes = read_shape(self.name, self.shape, self.dimensions, shape)
        problem = self.refuse(sizes)
        if problem:
            raise refuse_shape(self.name, self.shape, self.dimensions, shape, problem)
        return sizes

    def name_in(self, thread: int) -> str:
        return self.variants[thread % len(self.variants)] if self.variants else self.name

    def describe(self) -> dict[str, Any]:
        """What `describe` says of it whatever the framework."""
        return {
            "name": self.name,
            "summary": self.summary,
            "source": self.source,
            "has_parameters": self.parameters is not None,
            "dtypes": list(self.dtypes),
            "shape": self.shape,
            "dimensions": self.dimensions,
            "made_of": list(self.made_of),
        }


def by_name(operations: Sequence[Operation]) -> dict[str, Operation]:
    return {operation.name: operation for operation in operations}
