"""What speaks against numbers, and the numbers of a seed: the C library's, the same as in C++."""

from __future__ import annotations

import array
import ctypes
import struct
import threading

from ._runtime import library
from .program import Unsupported, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

Sizes = tuple[int, ...]

# enum mpsprobe_rounding: what an operation does to its numbers (scenarios/comparison/tolerance.h).
ROUNDINGS = ("exact", "elementary", "transcendental", "accumulated")
FLOAT32_UNIT = 2.0**-23
KEPT_BYTES = 256 << 20  # of results that a process keeps for comparison
_TEXT = 1024
_MOST_SIZES = 8


def count_of(sizes: Sequence[int]) -> int:
    count = 1
    for size in sizes:
        count *= size
    return count


@record
class Values:
    """Numbers of one array in row-major order: `data` holds them as the struct module's `format` says."""

    sizes: Sizes
    format: str
    data: bytes

    def wide(self) -> Values:
        """The same in a format that the C library reads."""
        if self.format in "fdiq":
            return self
        numbers = struct.unpack(f"{count_of(self.sizes)}{self.format}", self.data)
        return Values(self.sizes, "d", array.array("d", numbers).tobytes())


def _sizes(sizes: Sequence[int]) -> Any:
    return (ctypes.c_int64 * max(len(sizes), 1))(*sizes)


def difference(got: Values, expected: Values, rounding: str, unit: float, terms: int) -> str:
    """What differs; empty where nothing does. `unit` is the distance from 1 to the next number of the
    type, 0 for integers; `terms` is of how many terms an element is a sum."""
    text = ctypes.create_string_buffer(_TEXT)
    a, b = got.wide(), expected.wide()
    library().mpsprobe_compare(
        a.data,
        a.format.encode(),
        b.data,
        b.format.encode(),
        _sizes(a.sizes),
        len(a.sizes),
        ROUNDINGS.index(rounding),
        unit,
        terms,
        text,
        _TEXT,
    )
    return text.value.decode()


def difference_from_normal(samples: Values) -> str:
    """What speaks against samples of the standard normal distribution; empty where nothing does."""
    text = ctypes.create_string_buffer(_TEXT)
    a = samples.wide()
    library().mpsprobe_compare_with_normal(
        a.data, a.format.encode(), _sizes(a.sizes), len(a.sizes), text, _TEXT
    )
    return text.value.decode()


def positive_product(a: Values, b: Values) -> Values:
    """relu(a x b) of two float32 matrices, in float64."""
    rows, inner, columns = a.sizes[0], a.sizes[1], b.sizes[1]
    product = (ctypes.c_double * (rows * columns))()
    library().mpsprobe_positive_product(a.data, b.data, rows, inner, columns, product)
    return Values((rows, columns), "d", bytes(product))


def read_shape(operation: str, default: str, dimensions: str, shape: str) -> Sizes:
    """The sizes that a cell's `shape` asks of an operation. Raises Unsupported with what it takes."""
    sizes = (ctypes.c_int64 * _MOST_SIZES)()
    text = ctypes.create_string_buffer(_TEXT)
    count = library().mpsprobe_read_shape(
        operation.encode(), default.encode(), dimensions.encode(), shape.encode(), sizes, text, _TEXT
    )
    if count < 0:
        raise Unsupported(text.value.decode())
    return tuple(sizes[:count])


def refuse_shape(operation: str, default: str, dimensions: str, shape: str, problem: str) -> Unsupported:
    takes = "of any number" if dimensions == "any" else dimensions
    return Unsupported(
        f"shape={shape}: {problem}. Operation {operation} takes sizes {takes}, for example shape={default}"
    )


class Numbers:
    """The same numbers for the same seed and stream, on every platform and in every worker."""

    def __init__(self, seed: int, stream: int) -> None:
        self._numbers = library().mpsprobe_numbers_new(seed, stream)

    def __del__(self) -> None:
        library().mpsprobe_numbers_free(self._numbers)

    def normal(self, *sizes: int) -> Values:
        """Samples of the standard normal distribution, within 6."""
        out = (ctypes.c_float * count_of(sizes))()
        library().mpsprobe_numbers_normal(self._numbers, out, len(out))
        return Values(sizes, "f", bytes(out))

    def uniform(self, low: float, high: float, *sizes: int) -> Values:
        out = (ctypes.c_float * count_of(sizes))()
        library().mpsprobe_numbers_uniform(self._numbers, low, high, out, len(out))
        return Values(sizes, "f", bytes(out))


class KeptBudget:
    """How much the lanes of a process may still keep. Any thread."""

    def __init__(self, left: int = KEPT_BYTES) -> None:
        self._left = left
        self._lock = threading.Lock()

    def take(self, size: int) -> bool:
        with self._lock:
            if size > self._left:
                return False
            self._left -= size
            return True


class KeptResults:
    """The results of one lane's launches, as many as the budget lets it keep: beyond it the first and
    the last. One thread at a time."""

    def __init__(self, budget: KeptBudget) -> None:
        self.all: list[tuple[int, Any]] = []
        self.dropped = 0
        self._budget = budget
        self._last_is_spare = False

    def add(self, iteration: int, results: Any, size: int) -> None:
        if self._last_is_spare:
            self.all.pop()
            self.dropped += 1
        self._last_is_spare = not self._budget.take(size) and bool(self.all)
        self.all.append((iteration, results))
