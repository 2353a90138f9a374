"""Cells that misbehave on purpose, through Python: the known truth of what a Python worker tells.

Most are the C++ self-tests' own functions, called as a binding calls its library: they die, or hang, where
those do. Some are the interpreter's: an exception, an exit, a lock of `threading`, the interpreter's lock
held for ever.
"""

from __future__ import annotations

import ctypes
import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .program import Cell, Checked, Lane, Program, Unsupported, Workload, backend_entry, own_row

PREFIX = "selftest."


@dataclass(frozen=True)
class Misbehaviour:
    summary: str
    stage: str  # make, touch, launch, every_launch, check, teardown, finalise
    act: Callable[[int, int], None]  # with the thread and how many there are
    together: bool = False  # every thread takes part


def nothing(_thread: int, _threads: int) -> None:
    pass


def raises(_thread: int, _threads: int) -> None:
    raise RuntimeError("planted exception")


def raises_error_of_python(_thread: int, _threads: int) -> None:
    raise ValueError("planted error of Python")


def exits(_thread: int, _threads: int) -> None:
    raise SystemExit(11)


def waits_for_python_lock(_thread: int, _threads: int) -> None:
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def holds_interpreter(_thread: int, _threads: int) -> None:
    """Sleeps in C without letting go of the interpreter's lock, as a binding that forgot to."""
    pause = ctypes.PyDLL(None).pause
    while True:
        pause()


def slow(_thread: int, _threads: int) -> None:
    time.sleep(0.05)


class CrashOfTheEnd:
    """Crashes when the interpreter takes its modules apart."""

    def __init__(self, act: Callable[[int, int], None]) -> None:
        self._act = act

    def __del__(self) -> None:
        self._act(0, 1)


OF_PYTHON = {
    "exception": Misbehaviour("raises out of the operation", "launch", raises),
    "exception_on_main": Misbehaviour("raises on the main thread, touching the device", "touch", raises),
    "slow": Misbehaviour("takes long, but gets on", "every_launch", slow),
    "error_of_python": Misbehaviour("raises a ValueError", "launch", raises_error_of_python),
    "system_exit": Misbehaviour("raises SystemExit in a thread", "launch", exits),
    "python_lock": Misbehaviour(
        "waits for a lock of threading that nobody releases", "launch", waits_for_python_lock
    ),
    "held_interpreter": Misbehaviour("sleeps and keeps the interpreter's lock", "launch", holds_interpreter),
}
# What has no meaning through Python: these throw C++ exceptions through an interpreter that has none.
NOT_HERE = ("exception_in_thread",)


def _native(act: Any, name: str) -> Callable[[int, int], None]:
    return lambda thread, threads: act(name.encode(), thread, threads)


def misbehaviours() -> dict[str, Misbehaviour]:
    """By name. Only Python's own where MPSPROBE_SELFTEST_LIBRARY names no library of the others."""
    path = os.environ.get("MPSPROBE_SELFTEST_LIBRARY")
    found: dict[str, Misbehaviour] = {}
    if path:
        library = ctypes.CDLL(path)
        library.mpsprobe_misbehaviours.restype = ctypes.c_char_p
        library.mpsprobe_misbehave.restype = None
        for row in json.loads(library.mpsprobe_misbehaviours()):
            if row["name"] in NOT_HERE:
                continue
            act = _native(library.mpsprobe_misbehave, row["name"])
            found[row["name"]] = Misbehaviour(row["summary"], row["stage"], act, row["together"])
        crash = _native(library.mpsprobe_misbehave, "null_dereference")
        found["crash_finalise"] = Misbehaviour("crashes while the interpreter ends", "finalise", crash)
    found.update(OF_PYTHON)
    return found


class SelftestLane(Lane):
    def __init__(self, name: str, misbehaviour: Misbehaviour, when: int, thread: int, threads: int) -> None:
        self._name = name
        self._misbehaviour = misbehaviour
        self._when = when
        self._place = (thread, threads)
        self._launched = 0

    def operation(self) -> str:
        return self._name

    def launch(self, iteration: int) -> None:
        stage = self._misbehaviour.stage
        if stage == "every_launch" or (stage == "launch" and iteration == self._when):
            self._misbehaviour.act(*self._place)
        self._launched += 1

    def check(self) -> Checked:
        if self._misbehaviour.stage == "check" and self._when >= 0:
            return Checked(self._launched, 0, self._when, "element 0: expected 1, got 2, tolerance 0")
        return Checked(self._launched)


class SelftestWorkload(Workload):
    """The last thread misbehaves halfway."""

    def __init__(self, name: str, misbehaviour: Misbehaviour, cell: Cell) -> None:
        self._name = name
        self._misbehaviour = misbehaviour
        self._threads = cell.number("threads")
        self._when = 0 if cell["lifetime"] == "fresh" else cell.number("iterations") // 2
        self._at("make")

    def _at(self, stage: str) -> None:
        if self._misbehaviour.stage == stage:
            self._misbehaviour.act(0, self._threads)

    def touch_device(self) -> None:
        self._at("touch")
        if self._misbehaviour.stage == "finalise":
            global _crash_of_the_end
            _crash_of_the_end = CrashOfTheEnd(self._misbehaviour.act)

    def make_lane(self, thread: int) -> Lane:
        acts = self._misbehaviour.together or thread == self._threads - 1
        return SelftestLane(self._name, self._misbehaviour, self._when if acts else -1, thread, self._threads)

    def observed_path(self) -> str:
        return "none"

    def close(self) -> None:
        self._at("teardown")


_crash_of_the_end: CrashOfTheEnd | None = None


def describe() -> list[dict[str, Any]]:
    return [
        own_row(PREFIX + name, each.summary, "self-test", backends=["cpu"])
        for name, each in misbehaviours().items()
    ]


def make_workload(cell: Cell) -> Workload:
    if cell["backend"] != "cpu":
        raise Unsupported("self-tests run on the backend cpu alone")
    name = cell["op"][len(PREFIX) :] if cell["op"].startswith(PREFIX) else ""
    found = misbehaviours().get(name)
    if found is None:
        raise Unsupported(f"this worker has no operation {cell['op']}")
    return SelftestWorkload(name, found, cell)


class SelftestProgram(Program):
    """Self-tests and nothing else: loads no library under test."""

    def describe(self) -> dict[str, Any]:
        return {
            "operations": describe(),
            "known_good": PREFIX + "pass",
            "backends": [backend_entry("cpu", "none: self-tests only")],
            "provenance": self._provenance(),
        }

    def provenance(self, cell: Cell) -> dict[str, Any]:
        return self._provenance()

    def make_workload(self, cell: Cell, seed: int) -> Workload:
        return make_workload(cell)

    def _provenance(self) -> dict[str, Any]:
        from . import provenance

        return {"device": "none: self-tests only", "python": provenance.interpreter(None)}
