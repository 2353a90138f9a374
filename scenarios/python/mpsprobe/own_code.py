"""Somebody's own functions as operations: MPSPROBE_PYTHON_CODE=FILE_OR_MODULE::FUNCTION[,FUNCTION].

A function is called by each thread, with (thread, iteration) or with nothing. Beside it in the same
module, for all functions or, as NAME_setup and so on, for the one of that name:

setup()                       once a process, on the main thread, before the threads start
thread_setup(thread)          on each thread, before the start
thread_teardown(thread)       on each thread, after its last call
expected(thread, iteration)   what the call should return

Where the cell has the iterations that one has by default and no two threads were inside the function at once by the end of
them, the last iteration calls it on until two are, or for a second: a fast function is over before the next thread begins.

Without `expected`, a result is compared with what the function returns once more when all threads have
ended, called by the main thread alone. That says nothing where two such calls differ: then results are
not compared.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib
import importlib.util
import inspect
import os
import re
import sys
import time
from collections import deque
from pathlib import Path
from types import ModuleType
from typing import Any, Callable

from . import frameworks, values
from .program import Cell, Checked, Lane, Program, SetupFailed, Unsupported, Workload
from .telling import in_words, print_traceback

VARIABLE = "MPSPROBE_PYTHON_CODE"
DEFAULT_ITERATIONS = 10
GROWS_FOR = 1.0  # seconds
KEPT = 16  # results of a thread's first calls, and as many of its last
NAME_LENGTH = 40


def operation_names(names: list[str]) -> dict[str, str]:
    """Names that the axis `op` takes, each for one of these: lower case, digits, `_` and `.`, at most 40."""
    found: dict[str, str] = {}
    for name in names:
        fit = re.sub(r"[^a-z0-9_.]+", "_", name.lower()).strip("_")
        if len(fit) > NAME_LENGTH or not fit or fit in found:
            mark = hashlib.sha256(name.encode()).hexdigest()[:6]
            fit = f"{fit[: NAME_LENGTH - 7]}_{mark}"
        found[fit] = name
    return found


def caller_of(function: Callable[..., Any], what: str) -> Callable[[int, int], Any]:
    """The function called with those of thread and iteration that it takes."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # of a builtin
        return lambda thread, iteration: function()
    needed = [
        each
        for each in parameters
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]
    names = [each.name for each in needed]
    by_place = not any(each.kind is each.KEYWORD_ONLY for each in needed)
    if not needed:  # most functions: what stands below takes five times as long, in each call
        return lambda thread, iteration: function()
    if len(needed) == 2 and by_place and not set(names) & {"thread", "iteration"}:
        return function
    known = {"thread", "iteration"}
    if not by_place or not set(names) <= known:
        raise SetupFailed(
            f"{what} takes ({', '.join(names)}). It is called with (thread, iteration), or with nothing: "
            "give the others defaults, or write a function around it"
        )
    return lambda thread, iteration: function(
        *({"thread": thread, "iteration": iteration}[name] for name in names)
    )


def digest_of(source: bytes) -> str:
    return hashlib.sha256(source).hexdigest()


class Code:
    """The module, and what was asked for of it."""

    def __init__(self, asked: str) -> None:
        # Folders may be called so as well: after the last that is a file's.
        file = re.match(r"(.*\.py)::(.*)", asked, re.DOTALL)
        place, _, names = asked.partition("::") if file is None else (file[1], "", file[2])
        self.place = place
        self.files: dict[str, str] = {}  # SHA-256 of what was loaded, by its path
        self.module = self._load(place)
        self.functions = [name for name in names.split(",") if name]
        for name in self.functions:
            self._require_function(name)

    def _require_function(self, name: str) -> None:
        """Before anything runs. What a call of it gives must be its result."""
        if not hasattr(self.module, name):
            own = [
                each
                for each, value in vars(self.module).items()
                if inspect.isfunction(value) and value.__module__ == self.module.__name__
            ]
            near = difflib.get_close_matches(name, own) or own
            there = f". It has {', '.join(near[:8])}" if near else ""
            raise SetupFailed(f"{self.place} has no function {name}{there}")
        found = getattr(self.module, name)
        if not callable(found):
            raise SetupFailed(f"{name} of {self.place} is no function: it is of type {type(found).__name__}")
        for is_such, kind in (
            (inspect.iscoroutinefunction, "a coroutine function"),
            (inspect.isasyncgenfunction, "an asynchronous generator"),
            (inspect.isgeneratorfunction, "a generator"),
        ):
            if is_such(found):
                raise SetupFailed(
                    f"{name} of {self.place} is {kind}: a call of it runs nothing. Write a function "
                    "around it that runs it to its end"
                )
        caller_of(found, f"{name} of {self.place}")

    def _load(self, place: str) -> ModuleType:
        path = Path(place)
        try:
            if not path.is_file():
                sys.path.insert(0, os.getcwd())
                module = importlib.import_module(place)
                if file := getattr(module, "__file__", None):
                    self.files[str(file)] = digest_of(Path(file).read_bytes())
                return module
            sys.path.insert(0, str(path.parent))
            spec = importlib.util.spec_from_file_location(path.stem, path)
            if spec is None or spec.loader is None:
                raise SetupFailed(f"{place} is no Python file")
            module = importlib.util.module_from_spec(spec)
            sys.modules[path.stem] = module
            # Compiled here: of two versions that one second saw, a kept one could be taken for the other.
            source = path.read_bytes()
            self.files[str(path)] = digest_of(source)
            exec(compile(source, path, "exec", dont_inherit=True), vars(module))
            return module
        except SetupFailed:
            raise
        except BaseException as problem:
            print_traceback(problem)
            if not isinstance(problem, ModuleNotFoundError):
                raise SetupFailed(f"importing {place}: {in_words(problem)}") from None
            raise SetupFailed(
                f"importing {place} with {sys.executable}: {in_words(problem)}. "  # one of the machine's Pythons
                "Install it for this interpreter, or mpsprobe into the environment that has it"
            ) from None

    def beside(self, function: str, what: str) -> Callable[..., Any] | None:
        """`what` for this function, or for all."""
        found = getattr(self.module, f"{function}_{what}", None) or getattr(self.module, what, None)
        return found if callable(found) else None


def call_with(call: Callable[..., Any], *given: int) -> None:
    """As many of these as it takes."""
    call(*given[: len(inspect.signature(call).parameters)])


def run_setup(call: Callable[..., Any], what: str, *given: int) -> None:
    """A failure of their set-up is none of their function's."""
    try:
        call_with(call, *given)
    except BaseException as problem:
        print_traceback(problem)
        raise SetupFailed(f"{what}: {in_words(problem)}") from None


class OwnWorkload(Workload):
    def __init__(self, code: Code, name: str, cell: Cell, clears_streams: bool) -> None:
        self.code = code
        self.name = name
        self.inside = bytearray(cell.number("threads") + 1)  # by thread, while it is in a call
        together = cell["start"] not in ("sequential", "main")
        can_meet = cell.number("threads") > 1 and cell["lock"] == "none" and together
        self.met = not can_meet or cell.number("iterations") != DEFAULT_ITERATIONS
        self.clears_streams = clears_streams
        self.call = caller_of(getattr(code.module, name), f"{name} of {code.place}")
        expected = code.beside(name, "expected")
        self.expected = caller_of(expected, f"expected of {code.place}") if expected else None
        self._alone: dict[tuple[int, int], Any] = {}
        self._repeats: bool | None = None
        self._entered = False
        setup = code.beside(name, "setup")
        if setup:
            run_setup(setup, f"setup of {code.place}")

    def enter(self, thread: int) -> None:
        """What a thread does before its first call."""
        setup = self.code.beside(self.name, "thread_setup")
        if setup:
            run_setup(setup, f"thread_setup of {self.code.place}", thread)

    def make_lane(self, thread: int) -> Lane:
        return OwnLane(self, thread)

    def right(self, thread: int, iteration: int) -> Any:
        """What the call should have returned. Main thread."""
        if self.expected:
            try:
                return self.expected(thread, iteration)
            except BaseException as problem:
                print_traceback(problem)
                raise SetupFailed(f"expected of {self.code.place}: {in_words(problem)}") from None
        key = (thread, iteration)
        if key not in self._alone:
            self._alone[key] = self._settled(thread, iteration)
        return self._alone[key]

    def _settled(self, thread: int, iteration: int) -> Any:
        if not self._entered:  # this thread becomes one of those that may call it
            self._entered = True
            self.enter(0)
        result = self.call(thread, iteration)
        frameworks.compute(result)
        frameworks.wait_for_device()
        return result

    def repeats(self) -> bool:
        """Whether the function alone returns the same twice, so that there is something to compare with."""
        if self._repeats is None:
            self._repeats = bool(self.expected) or self._returns_the_same()
        return self._repeats

    def _returns_the_same(self) -> bool:
        try:
            return not values.difference(self._settled(0, 0), self._settled(0, 0))
        except values.Incomparable:
            return False


class OwnLane(Lane):
    def __init__(self, workload: OwnWorkload, thread: int) -> None:
        self._workload = workload
        self._thread = thread
        self._first: list[tuple[int, Any]] = []
        self._last: deque[tuple[int, Any]] = deque(maxlen=KEPT)
        self._calls = 0

    def operation(self) -> str:
        return self._workload.name

    def enter(self) -> None:
        self._workload.enter(self._thread)

    def launch(self, iteration: int) -> None:
        self._call(iteration)
        if iteration != DEFAULT_ITERATIONS - 1:
            return
        end = time.monotonic() + GROWS_FOR
        while not self._workload.met and time.monotonic() < end:
            iteration += 1
            self._call(iteration)

    def _call(self, iteration: int) -> None:
        inside = self._workload.inside
        inside[self._thread] = 1
        if not self._workload.met and sum(inside) > 1:
            self._workload.met = True
        result = self._workload.call(self._thread, iteration)
        frameworks.compute(result)
        inside[self._thread] = 0
        self._calls += 1
        kept = self._first if len(self._first) < KEPT else self._last
        kept.append((iteration, result))

    def synchronise(self) -> None:
        frameworks.wait_for_device()

    def leave(self) -> None:
        end = self._workload.code.beside(self._workload.name, "thread_teardown")
        try:
            if end:
                call_with(end, self._thread)
        finally:
            if self._workload.clears_streams:
                frameworks.clear_streams()

    def check(self) -> Checked:
        kept = [*self._first, *self._last]
        if all(result is None for _, result in kept) or not self._workload.repeats():
            return Checked(unchecked=self._calls)
        checked = Checked(checked=len(kept), unchecked=self._calls - len(kept))
        for iteration, result in kept:
            try:
                wrong = values.difference(result, self._workload.right(self._thread, iteration))
            except values.Incomparable:
                checked.checked -= 1
                checked.unchecked += 1
                continue
            if wrong:
                checked.wrong_iteration = iteration
                checked.difference = wrong
                break
        return checked


class OwnCodeProgram(Program):
    tells_runtime_error = True

    def __init__(self) -> None:
        self._code = Code(os.environ[VARIABLE])
        self._operations = operation_names(self._code.functions)

    def describe(self) -> dict[str, Any]:
        return frameworks.description(
            [
                (
                    name,
                    f"{function} of {os.path.basename(self._code.place)}",
                    f"{self._code.place}::{function}",
                )
                for name, function in self._operations.items()
            ],
            "function",
            self._provenance(),
        )

    def provenance(self, cell: Cell) -> dict[str, Any]:
        return {**self._provenance(), "device": frameworks.device_of(cell["backend"])}

    def make_workload(self, cell: Cell, seed: int) -> Workload:
        if cell["op"] not in self._operations:
            raise Unsupported(f"op={cell['op']}: {VARIABLE} names {', '.join(self._operations)}")
        frameworks.seed_generators(seed)
        clears_streams = frameworks.leaving(cell)
        return OwnWorkload(self._code, self._operations[cell["op"]], cell, clears_streams)

    def end(self, forked: bool, status: int) -> None:
        frameworks.end(forked, status)

    def _provenance(self) -> dict[str, Any]:
        return {**frameworks.provenance_of_loaded(), "code": self._code.files}
