"""Somebody's own tests as operations: MPSPROBE_PYTEST is a file, a folder or a node id of pytest.

pytest collects them and sets up their fixtures, once a process, on the main thread. Then each thread
calls the test function again and again with these fixtures, as pytest-run-parallel does. An assertion
that fails is a wrong result; any other exception is one. Needs pytest 7 or later.
"""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import Any, Callable

from . import frameworks
from .own_code import digest_of, operation_names
from .program import Cell, Checked, Failure, Lane, Program, SetupFailed, Unsupported, Workload
from .telling import in_words, print_traceback, words_of

VARIABLE = "MPSPROBE_PYTEST"
# What pytest would do to a process besides: write, redirect descriptors, take over faulthandler.
WITHOUT = ("cacheprovider", "terminal", "faulthandler", "xdist", "run-parallel", "junitxml")


class WrongResult(Failure):
    """The test itself saw that a result is wrong."""

    kind = "wrong_result"


class TestWorkload(Workload):
    def __init__(self, item: Any, clears_streams: bool) -> None:
        self.item = item
        self.clears_streams = clears_streams
        try:
            item.ihook.pytest_runtest_setup(item=item)
        except BaseException as problem:
            if type(problem).__name__ == "Skipped":
                raise Unsupported(f"the test is skipped: {problem}") from None
            print_traceback(problem)
            raise SetupFailed(f"set-up of {item.nodeid}: {in_words(problem)}") from None
        if any(mark.name == "xfail" for mark in item.iter_markers()):
            raise Unsupported("the test is marked xfail: whether it failed says nothing")
        self.fixtures = {name: item.funcargs[name] for name in item._fixtureinfo.argnames}

    def make_lane(self, thread: int) -> Lane:
        return TestLane(self)

    def close(self) -> None:
        self.item.ihook.pytest_runtest_teardown(item=self.item, nextitem=None)


class TestLane(Lane):
    def __init__(self, workload: TestWorkload) -> None:
        self._workload = workload
        self._passed = 0

    def operation(self) -> str:
        return str(self._workload.item.name)

    def launch(self, iteration: int) -> None:
        try:
            self._workload.item.obj(**self._workload.fixtures)
        except AssertionError as problem:
            print_traceback(problem)
            raise WrongResult(words_of(problem) or place_of(problem)) from None
        except BaseException as problem:
            kind = type(problem).__name__
            if kind == "Skipped":
                raise Unsupported(f"the test skips itself: {problem}") from None
            if kind == "Failed":  # pytest.fail
                raise WrongResult(words_of(problem)) from None
            raise
        self._passed += 1

    def synchronise(self) -> None:
        frameworks.wait_for_device()

    def leave(self) -> None:
        if self._workload.clears_streams:
            frameworks.clear_streams()

    def check(self) -> Checked:
        """The test has compared by itself."""
        return Checked(checked=self._passed)


def place_of(problem: BaseException) -> str:
    """ "assert total == 3 (test_sum.py:12)" of an assertion that says nothing."""
    last = traceback.extract_tb(problem.__traceback__)[-1]
    return f"{last.line} ({os.path.basename(last.filename)}:{last.lineno})"


class PytestProgram(Program):
    """Its worker runs inside pytest's session: the tests have been collected when it begins."""

    tells_runtime_error = True

    def __init__(self) -> None:
        self._node = os.environ[VARIABLE]
        self._items: dict[str, Any] = {}
        self._files: dict[str, str] = {}  # SHA-256 by path
        self._problem = ""
        self._status: int | None = None

    def around(self, run: Callable[[], int]) -> int:
        """Runs the worker where pytest would run the tests."""
        try:
            import pytest
        except ImportError:
            self._problem = f"{sys.executable} has no pytest. Install it: pip install pytest"
            return run()
        program = self

        class Inside:
            def pytest_collection_finish(self, session: Any) -> None:
                program.take(session.items)

            def pytest_runtestloop(self, session: Any) -> bool:
                program._status = run()
                return True

            def pytest_collectreport(self, report: Any) -> None:
                if report.failed:
                    print(report.longrepr, file=sys.stderr)
                    last = str(report.longrepr).strip().splitlines()[-1:]
                    program._problem = f"collecting {report.nodeid}: {''.join(last)}"

        words = [self._node, "--capture=no", "--continue-on-collection-errors"]
        for plugin in WITHOUT:
            words += ["-p", f"no:{plugin}"]
        code = pytest.main(words, plugins=[Inside()])
        if self._status is None:  # pytest ended before it came to its tests
            self._problem = self._problem or f"pytest collects nothing from {self._node} (exit code {int(code)})"
            return run()
        return self._status

    def take(self, items: list[Any]) -> None:
        functions = {item.nodeid: item for item in items if hasattr(item, "obj")}
        names = operation_names([short_name(node) for node in functions])
        self._items = dict(zip(names, functions.values()))
        files = sorted({str(item.path) for item in self._items.values()})
        self._files = {file: digest_of(Path(file).read_bytes()) for file in files}

    def describe(self) -> dict[str, Any]:
        self._require_tests()
        operations = [
            (name, f"the test {item.nodeid}", place_of_test(item)) for name, item in self._items.items()
        ]
        return frameworks.description(operations, "test", self._provenance())

    def provenance(self, cell: Cell) -> dict[str, Any]:
        return {**self._provenance(), "device": frameworks.device_of(cell["backend"])}

    def make_workload(self, cell: Cell, seed: int) -> Workload:
        self._require_tests()
        item = self._items.get(cell["op"])
        if item is None:
            raise Unsupported(f"op={cell['op']}: no test of {self._node} is called so")
        frameworks.seed_generators(seed)
        return TestWorkload(item, frameworks.leaving(cell))

    def end(self, forked: bool, status: int) -> None:
        frameworks.end(forked, status)

    def _require_tests(self) -> None:
        if not self._items:
            raise SetupFailed(self._problem or f"{self._node} has no tests")

    def _provenance(self) -> dict[str, Any]:
        return {**frameworks.provenance_of_loaded(), "code": self._files}


def place_of_test(item: Any) -> str:
    """FILE::NAME by which pytest finds it from any folder."""
    return f"{item.path}::{item.nodeid.partition('::')[2]}"


def short_name(node: str) -> str:
    """ "test_sum.py::TestSum::test_it" without the folder and the endings: "sum.testsum.it"."""
    file, _, rest = node.partition("::")
    stem = Path(file).stem.removeprefix("test_").removesuffix("_test")
    parts = [stem, *(part.removeprefix("test_") for part in rest.split("::"))]
    return ".".join(part for part in parts if part)
