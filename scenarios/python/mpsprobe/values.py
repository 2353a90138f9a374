"""Whether two results of somebody's function are the same, by value, whatever made them."""

from __future__ import annotations

import dataclasses
import math
import operator
import struct
from collections.abc import Mapping, Sequence, Set
from numbers import Complex
from typing import Any, Optional

from .telling import in_words

# What float32 may differ by where sums are taken in another order, relative to the largest number.
RELATIVE = 1e-4


# Elements that are looked at together: lists of them take a few MB.
CHUNK = 1 << 16


class Incomparable(Exception):
    """There is no telling whether two values are the same."""


def is_array(value: Any) -> bool:
    """A tensor or an array, of whichever library."""
    return callable(getattr(value, "tolist", None)) and hasattr(value, "shape")


def as_list(value: Any) -> Optional[Any]:
    """The numbers of an array; None where it is none."""
    return value.tolist() if is_array(value) else None


def is_wide(value: Any) -> bool:
    """A number that Python has no type for, which NumPy lists as itself: a long double."""
    return isinstance(value, Complex) and is_array(value) and is_array(value.tolist())


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex)) or is_wide(value)


def buffer_of(value: Any) -> Optional[tuple[str, bytes]]:
    """What an array holds, row by row, and its format as the struct module or the library calls it: by the buffer protocol
    (PEP 3118) or `__array__`, from a device by way of the host. None where neither gives it."""
    for get in (lambda: value, lambda: value.detach().cpu().numpy(), lambda: value.__array__()):
        try:
            view = memoryview(get())
            # Of Python's objects there are addresses in it.
            return None if "O" in view.format else (view.format, view.tobytes())
        except Exception:  # whatever a library raises for what it cannot
            continue
    return None


def kind_of(array: Any, other: Any) -> str:
    """Its shape, and its type where the other is of the same library."""
    shape = f"shape {tuple(array.shape)}"
    dtype = getattr(array, "dtype", None)
    return f"{shape} of {str(dtype).rpartition('.')[2]}" if type(array) is type(other) and dtype else shape


def largest(value: Any) -> float:
    if isinstance(value, (list, tuple)):
        return max((largest(each) for each in value), default=0.0)
    if is_number(value) and not isinstance(value, bool):
        return abs(value) if _is_finite(value) else 0.0
    return 0.0


def _is_finite(number: Any) -> bool:
    try:
        return math.isfinite(abs(number))
    except OverflowError:  # an integer that no float holds
        return False


def difference(got: Any, expected: Any) -> str:
    """What differs: where, expected, got. Empty where nothing does. Raises Incomparable."""
    try:
        return _differs(got, expected, "", 0.0)
    except RecursionError:
        raise Incomparable("one lies within itself, or too deep") from None


def _equal(got: Any, expected: Any) -> bool:
    """As they say themselves."""
    try:
        return bool(got == expected)
    except Exception as problem:  # whatever theirs raises, or as an array, which is neither true nor false
        raise Incomparable(f"{type(expected).__name__}: {in_words(problem)}") from None


def _words(place: str, got: Any, expected: Any) -> str:
    where = f"at {place}: " if place else ""
    return f"{where}expected {_short(expected)}, got {_short(got)}"


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # of theirs
        text = f"<{type(value).__name__}: repr() failed>"
    return text if len(text) <= 80 else text[:77] + "..."


def _arrays_differ(got: Any, expected: Any, place: str) -> str:
    kinds = kind_of(got, expected), kind_of(expected, got)
    if kinds[0] != kinds[1]:
        where = f"at {place}: " if place else ""
        return f"{where}expected {kinds[1]}, got {kinds[0]}"
    one, other = buffer_of(got), buffer_of(expected)
    if one and one == other:
        return ""
    if one and other and one[0] == other[0] and other[0] in tuple("bBhHiIlLqQefd?"):
        return _buffers_differ(one[1], other[1], other[0], tuple(expected.shape), place)
    expected_list = expected.tolist()
    return _differs(got.tolist(), expected_list, place, largest(expected_list))


def _sizes(numbers: list[float]) -> list[float]:
    """Of those that have one."""
    sizes = list(map(abs, numbers))
    return sizes if math.isfinite(sum(sizes)) else [size for size in sizes if math.isfinite(size)]


def _buffers_differ(got: bytes, expected: bytes, kind: str, shape: tuple[int, ...], place: str) -> str:
    width = struct.calcsize(kind)

    def numbers(held: bytes, begin: int) -> list[float]:
        part = held[begin * width : (begin + CHUNK) * width]
        return list(struct.unpack(f"{len(part) // width}{kind}", part))

    exact = kind not in "efd"
    chunks = range(0, len(expected) // width, CHUNK)
    scale = 0.0 if exact else max(max(_sizes(numbers(expected, begin)), default=0.0) for begin in chunks)
    for begin in chunks:
        ours, theirs = numbers(got, begin), numbers(expected, begin)
        if ours == theirs:
            continue
        if not exact:
            apart = list(map(abs, map(operator.sub, ours, theirs)))
            if math.isfinite(sum(apart)) and max(apart) <= RELATIVE * scale:
                continue
        for i, (one, other) in enumerate(zip(ours, theirs)):
            if one != other and not _close(one, other, scale):
                return _words(place + _index(begin + i, shape), one, other)
    return ""


def _index(position: int, shape: tuple[int, ...]) -> str:
    """[row][column] of that element, counted row by row."""
    words = ""
    for size in reversed(shape):
        position, at = divmod(position, size)
        words = f"[{at}]{words}"
    return words


def _fields(value: Any) -> dict[str, Any]:
    """Of a data class, whose fields may lie in slots."""
    names = [each.name for each in dataclasses.fields(value) if hasattr(value, each.name)]
    return {**{name: getattr(value, name) for name in names}, **getattr(value, "__dict__", {})}


def _differs(got: Any, expected: Any, place: str, scale: float) -> str:
    if is_wide(got) and is_wide(expected):
        return "" if _close(got, expected, scale) else _words(place, got, expected)
    if is_array(got) and is_array(expected):
        return _arrays_differ(got, expected, place)
    got_list, expected_list = as_list(got), as_list(expected)
    # An array without dimensions is a number.
    if got_list is not None and not isinstance(got_list, list):
        got = got_list
    if isinstance(expected_list, list):
        return _words(place, got, expected)
    expected = expected if expected_list is None else expected_list
    if isinstance(expected, (bool, str, bytes, type(None))):
        return "" if type(got) is type(expected) and _equal(got, expected) else _words(place, got, expected)
    if is_number(expected):
        return "" if _close(got, expected, scale) else _words(place, got, expected)
    if dataclasses.is_dataclass(expected) and not isinstance(expected, type):
        if type(got) is not type(expected):
            return _words(place, got, expected)
        return _differs(_fields(got), _fields(expected), place, scale)
    if isinstance(expected, Mapping):
        if not isinstance(got, Mapping) or not _equal(got.keys(), expected.keys()):
            return _words(place, got, expected)
        pairs = [(got[key], expected[key], f"{place}[{key!r}]") for key in expected]
    elif isinstance(expected, Set):
        return "" if _equal(got, expected) else _words(place, got, expected)
    elif isinstance(expected, Sequence):
        if not isinstance(got, Sequence) or len(got) != len(expected):
            return _words(place, got, expected)
        pairs = [(got[i], expected[i], f"{place}[{i}]") for i in range(len(expected))]
    else:
        return _differs_by_itself(got, expected, place)
    for one, other, where in pairs:
        if found := _differs(one, other, where, scale):
            return found
    return ""


def _differs_by_itself(got: Any, expected: Any, place: str) -> str:
    """Of objects that mpsprobe does not look into: equal as they say, unless they say nothing of it."""
    if type(expected).__eq__ is object.__eq__:
        return "" if type(got) is type(expected) else _words(place, got, expected)
    return "" if _equal(got, expected) else _words(place, got, expected)


def _close(got: Any, expected: Any, scale: float) -> bool:
    if not is_number(got) or isinstance(got, bool):
        return False
    if isinstance(got, int) and isinstance(expected, int):
        return got == expected
    if got != got or expected != expected:  # not a number
        return got != got and expected != expected
    if got == expected:
        return True
    if not _is_finite(got) or not _is_finite(expected):
        return False
    return abs(got - expected) <= RELATIVE * max(scale, abs(expected))
