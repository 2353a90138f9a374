"""Whether two results of somebody's function are the same, by value, whatever made them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence, Set
from typing import Any, Optional

# What float32 may differ by where sums are taken in another order, relative to the largest number.
RELATIVE = 1e-4


def as_list(value: Any) -> Optional[Any]:
    """The numbers of a tensor or an array, of whichever library; None where it is neither."""
    to_list = getattr(value, "tolist", None)
    if not callable(to_list) or not hasattr(value, "shape"):
        return None
    return to_list()


def kind_of(array: Any, other: Any) -> str:
    """Its shape, and its type where the other is of the same library."""
    shape = f"shape {tuple(array.shape)}"
    dtype = getattr(array, "dtype", None)
    return f"{shape} of {str(dtype).rpartition('.')[2]}" if type(array) is type(other) and dtype else shape


def largest(value: Any) -> float:
    if isinstance(value, (list, tuple)):
        return max((largest(each) for each in value), default=0.0)
    if isinstance(value, (int, float, complex)) and not isinstance(value, bool):
        size = abs(value)
        return size if math.isfinite(size) else 0.0
    return 0.0


def difference(got: Any, expected: Any) -> str:
    """What differs: where, expected, got. Empty where nothing does."""
    return _differs(got, expected, "", 0.0)


def _words(place: str, got: Any, expected: Any) -> str:
    where = f"at {place}: " if place else ""
    return f"{where}expected {_short(expected)}, got {_short(got)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _differs(got: Any, expected: Any, place: str, scale: float) -> str:
    got_list, expected_list = as_list(got), as_list(expected)
    if got_list is not None and expected_list is not None:
        kinds = kind_of(got, expected), kind_of(expected, got)
        if kinds[0] != kinds[1]:
            where = f"at {place}: " if place else ""
            return f"{where}expected {kinds[1]}, got {kinds[0]}"
        return _differs(got_list, expected_list, place, largest(expected_list))
    # An array without dimensions is a number.
    if got_list is not None and not isinstance(got_list, list):
        got = got_list
    if isinstance(expected_list, list):
        return _words(place, got, expected)
    expected = expected if expected_list is None else expected_list
    if isinstance(expected, (bool, str, bytes, type(None))):
        return "" if type(got) is type(expected) and got == expected else _words(place, got, expected)
    if isinstance(expected, (int, float, complex)):
        return "" if _close(got, expected, scale) else _words(place, got, expected)
    if dataclasses.is_dataclass(expected) and not isinstance(expected, type):
        if type(got) is not type(expected):
            return _words(place, got, expected)
        return _differs(vars(got), vars(expected), place, scale)
    if isinstance(expected, Mapping):
        if not isinstance(got, Mapping) or got.keys() != expected.keys():
            return _words(place, got, expected)
        pairs = [(got[key], expected[key], f"{place}[{key!r}]") for key in expected]
    elif isinstance(expected, Set):
        return "" if got == expected else _words(place, got, expected)
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
    return "" if got == expected else _words(place, got, expected)


def _close(got: Any, expected: Any, scale: float) -> bool:
    if not isinstance(got, (int, float, complex)) or isinstance(got, bool):
        return False
    if isinstance(got, int) and isinstance(expected, int):
        return got == expected
    if got != got or expected != expected:  # not a number
        return got != got and expected != expected
    if got == expected:
        return True
    return abs(got - expected) <= RELATIVE * max(scale, abs(expected))
