"""Somebody's own tests as operations: MPSPROBE_PYTEST is a file, a folder or a node id of pytest.

pytest collects them and sets up their fixtures, once a process, on the main thread. Then each thread
calls the test function again and again with these fixtures, as pytest-run-parallel does. Where the cell has
the iterations that one has by default, no call begins when a second has passed since the first. An assertion
that fails is a wrong result; any other exception is one. With one thread pytest calls it, with all that
its plugins do around a call. The project's own configuration holds, but for what reports, and for what
changes how tests are run. Needs pytest 7 or later.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import math
import os
import re
import shutil
import sys
import tempfile
import time
import traceback
import unittest
from pathlib import Path
from typing import Any, Callable

from . import frameworks
from .own_code import DEFAULT_ITERATIONS, digest_of, operation_names
from .program import Cell, Checked, Failure, Lane, Program, SetupFailed, Unsupported, Workload
from .telling import in_words, print_traceback, words_of

VARIABLE = "MPSPROBE_PYTEST"
# Takes over faulthandler, which tells of a crash.
WITHOUT = ("faulthandler",)
# Options that a project's configuration may have, which write, choose tests, or run them elsewhere.
NEUTRAL = {"numprocesses": None, "tx": [], "dist": "no", "xmlpath": None, "collectonly": False, "parallel_threads": 1}
CHOOSING = ("lfplugin", "nfplugin", "stepwiseplugin")
# Plugins around the run of a test, which has no such run here.
LEFT_OUT = ("xdist", "timeout", "rerunfailures", "randomly", "parallel")
# Fixtures that stand for the process, or that one test at a time uses.
NOT_SHARED = {"capsys", "capfd", "capsysbinary", "capfdbinary", "caplog", "recwarn", "monkeypatch", "doctest_namespace"}
OWN_FOLDER = {"tmp_path", "tmpdir"}
# Where pytest makes the folders of tests: https://docs.pytest.org/en/stable/reference/reference.html
FOLDERS_OF_TESTS = "PYTEST_DEBUG_TEMPROOT"
OF_A_TRIAL = "mpsprobe-tests-"  # begins the name of a forked one's
KEPT_FOR = 24 * 3600.0  # seconds; pytest keeps such folders for three days
BEGINS_CALLS_FOR = 1.0  # seconds
MOST_WORDS = 400  # characters of what pytest printed
# What pytest.skip and pytest.xfail raise.
SAYS_NOTHING = {"Skipped": "skips itself", "XFailed": "says of itself that it is expected to fail"}


class WrongResult(Failure):
    """The test itself saw that a result is wrong."""

    kind = "wrong_result"


class TestWorkload(Workload):
    def __init__(self, item: Any, cell: Cell) -> None:
        self.item = item
        self.threads = cell.number("threads")
        asked = cell.number("iterations") != DEFAULT_ITERATIONS
        # A doctest's run takes the names away that another one needs.
        once = hasattr(item, "dtest")
        self.begins_calls_for = 0 if once else math.inf if asked else BEGINS_CALLS_FOR
        self.clears_streams = frameworks.leaving(cell)
        self.problem: BaseException | None = None  # a thread's, of a call
        self._require_that_it_can_run()
        try:
            item.ihook.pytest_runtest_setup(item=item)
        except BaseException as problem:
            if type(problem).__name__ in SAYS_NOTHING:
                raise Unsupported(f"the test is {type(problem).__name__.lower()}: {problem}") from None
            print_traceback(problem)
            raise SetupFailed(f"set-up of {item.nodeid}: {in_words(problem)}") from None
        self._report("setup", None)
        if any(mark.name == "xfail" for mark in item.iter_markers()):
            raise Unsupported("the test is marked xfail: whether it failed says nothing")
        self.fixtures = {name: item.funcargs[name] for name in item._fixtureinfo.argnames} if self.threads > 1 else {}

    def _require_that_it_can_run(self) -> None:
        if self.threads == 1:
            return
        if not hasattr(self.item, "_fixtureinfo") or not callable(getattr(self.item, "obj", None)):
            raise Unsupported(f"a {type(self.item).__name__} is no function: it runs with one thread alone")
        if inspect.iscoroutinefunction(self.item.obj) or inspect.isasyncgenfunction(self.item.obj):
            raise Unsupported("the test is a coroutine function: it runs with one thread alone")
        alone = sorted(NOT_SHARED & set(self.item.fixturenames))
        if alone:
            raise Unsupported(f"threads cannot share the fixture {alone[0]}: it runs with one thread alone")

    def make_lane(self, thread: int) -> Lane:
        return TestLane(self, thread)

    def _report(self, when: Any, problem: BaseException | None) -> None:
        """What the tear-down of fixtures asks for: how the test went."""
        import pytest

        def went() -> None:
            if problem is not None:
                raise problem

        call = pytest.CallInfo.from_call(went, when=when)
        self.item.ihook.pytest_runtest_makereport(item=self.item, call=call)

    def close(self) -> None:
        self._report("call", self.problem)
        try:
            self.item.ihook.pytest_runtest_teardown(item=self.item, nextitem=None)
        except BaseException as problem:
            if type(problem).__name__ not in SAYS_NOTHING:
                raise


class TestLane(Lane):
    def __init__(self, workload: TestWorkload, thread: int) -> None:
        self._workload = workload
        self._passed = 0
        self._last_begin = math.inf
        self._fixtures = {name: self._own(name, value, thread) for name, value in workload.fixtures.items()}

    def _own(self, name: str, value: Any, thread: int) -> Any:
        """A folder of the test is one for each thread where there are several."""
        if self._workload.threads == 1 or name not in OWN_FOLDER:
            return value
        folder = Path(value) / f"thread-{thread}"
        folder.mkdir(exist_ok=True)
        return type(value)(folder)

    def operation(self) -> str:
        return str(self._workload.item.name)

    def launch(self, iteration: int) -> None:
        if iteration == 0:
            self._last_begin = time.monotonic() + self._workload.begins_calls_for
        elif time.monotonic() > self._last_begin:
            return
        try:
            self._call()
        except AssertionError as problem:
            print_traceback(problem)
            raise WrongResult(words_of(problem) or place_of(problem)) from None
        except Failure:
            raise
        except BaseException as problem:
            kind = type(problem).__name__
            if kind in SAYS_NOTHING:
                raise Unsupported(f"the test {SAYS_NOTHING[kind]}: {problem}") from None
            if kind == "Failed":  # pytest.fail
                raise WrongResult(words_of(problem)) from None
            if kind == "DocTestFailure":
                raise WrongResult(f"expected {problem.example.want.strip()}, got {problem.got.strip()}") from None
            raise
        self._passed += 1

    def _call(self) -> None:
        item = self._workload.item
        try:
            if issubclass(getattr(item, "cls", None) or object, unittest.TestCase):
                run_case(item)
            elif self._workload.threads == 1:
                item.ihook.pytest_runtest_call(item=item)
            else:
                item.obj(**self._fixtures)
        except BaseException as problem:
            self._workload.problem = problem
            if type(problem).__name__ == "UnexpectedException":  # of a doctest
                raise problem.exc_info[1] from None
            raise

    def synchronise(self) -> None:
        frameworks.wait_for_device()

    def leave(self) -> None:
        if self._workload.clears_streams:
            frameworks.clear_streams()

    def check(self) -> Checked:
        """The test has compared by itself."""
        return Checked(checked=self._passed)


def run_case(item: Any) -> None:
    """A test of unittest's, on an instance of its own, with its setUp and tearDown."""
    result = unittest.TestResult()
    item.cls(item.obj.__name__).run(result)
    for _, text in [*result.failures, *result.errors]:
        print(text, file=sys.stderr)
    if result.failures:
        raise WrongResult(last_line(result.failures[0][1]))
    if result.errors:
        raise Failure(last_line(result.errors[0][1]))
    if result.unexpectedSuccesses:
        raise WrongResult("it was expected to fail, and passed")
    if result.skipped or result.expectedFailures:
        reason = result.skipped[0][1] if result.skipped else "it is expected to fail"
        raise Unsupported(f"the test is skipped: {reason}")


def packages_of_pytest() -> set[str]:
    """Itself and what it requires, in lower case: nothing of a suite's."""
    from importlib import metadata  # slow to load, and wanted here alone

    try:
        required = metadata.requires("pytest") or []
    except metadata.PackageNotFoundError:  # found by PYTHONPATH
        required = []
    return {"pytest", *(re.split(r"[^\w.-]", each, maxsplit=1)[0].lower() for each in required)}


def remove_remains() -> None:
    """The folders of trials that crashed or were ended, a day ago or longer."""
    for folder in Path(tempfile.gettempdir()).glob(f"{OF_A_TRIAL}*"):
        with contextlib.suppress(OSError):  # another one removes it too
            if time.time() - folder.stat().st_mtime > KEPT_FOR:
                shutil.rmtree(folder)


def shortened(text: str) -> str:
    """In one line, and its end, where pytest says most."""
    line = "; ".join(part.strip() for part in text.splitlines() if part.strip())
    return line if len(line) <= MOST_WORDS else f"...{line[-MOST_WORDS:]}"


class Kept:
    """A stream, and what was last written to it."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.text = ""

    def write(self, text: str) -> Any:
        self.text = (self.text + text)[-4 * MOST_WORDS :]
        return self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def last_line(text: str) -> str:
    return "".join(text.strip().splitlines()[-1:])


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
        self._broken: dict[str, tuple[str, str]] = {}  # what was not collected, and what pytest said of it
        self._files: dict[str, str] = {}  # SHA-256 by path
        self._problem = ""
        self._remarks: list[str] = []
        self._status: int | None = None
        self._collected_by = os.getpid()
        self._folder = ""  # of a forked trial's tests

    def around(self, run: Callable[[], int]) -> int:
        """Runs the worker where pytest would run the tests."""
        try:
            import pytest
        except ImportError:
            self._problem = f"{sys.executable} has no pytest. Install it: pip install pytest"
            return run()
        program = self
        remove_remains()

        class Inside:
            # A wrapper comes before the plugins that read these options.
            @pytest.hookimpl(hookwrapper=True)
            def pytest_cmdline_main(self, config: Any) -> Any:
                for option, value in NEUTRAL.items():
                    if hasattr(config.option, option):
                        setattr(config.option, option, value)
                yield

            # What reports writes to where standard output is when it begins.
            @pytest.hookimpl(tryfirst=True)
            def pytest_configure(self, config: Any) -> None:
                sys.stdout = open(os.devnull, "w", encoding="utf-8")

            def pytest_collection_finish(self, session: Any) -> None:
                program.take(session.items)

            def pytest_runtestloop(self, session: Any) -> bool:
                if sys.stderr is stderr:
                    sys.stderr = stderr.stream
                program._status = run()
                return True

            # Of a hook of a plugin or of conftest.py.
            def pytest_internalerror(self, excinfo: Any) -> None:
                if program._status is None:
                    print_traceback(excinfo.value)
                    program._problem = f"pytest: {in_words(excinfo.value)}"

            def pytest_collectreport(self, report: Any) -> None:
                if report.failed:
                    said = str(report.longrepr)
                    program._problem = f"collecting {report.nodeid}: {last_line(said).removeprefix('E   ')}"
                    program._broken[report.nodeid] = (program._problem, said)
                    program._remarks.append(program._problem)

        class Configured:
            @pytest.hookimpl(trylast=True)
            def pytest_configure(self, config: Any) -> None:
                sys.stdout = stdout
                for plugin in CHOOSING:
                    if config.pluginmanager.has_plugin(plugin):
                        config.pluginmanager.unregister(name=plugin)
                left_out = [name for name in LEFT_OUT if config.pluginmanager.has_plugin(name)]
                if left_out:
                    program._remarks.append(f"of pytest's plugins without effect: {', '.join(left_out)}")

        stdout, stderr = sys.stdout, Kept(sys.stderr)
        sys.path.insert(0, os.getcwd())  # as python -m pytest does
        words = [self._node, "--capture=no", "--continue-on-collection-errors"]
        for plugin in WITHOUT:
            words += ["-p", f"no:{plugin}"]
        if importlib.util.find_spec("pytest_cov") is not None:
            words.append("--no-cov")
        sys.stderr = stderr
        code = pytest.main(words, plugins=[Inside(), Configured()])
        sys.stderr = stderr.stream
        if self._status is None:  # pytest ended before it came to its tests
            said = f": {shortened(stderr.text)}" if stderr.text else ""
            self._problem = self._problem or f"pytest collects nothing from {self._node} (exit code {int(code)}){said}"
            self._items = {}  # whose session has ended
            return run()
        return self._status

    def take(self, items: list[Any]) -> None:
        functions = {item.nodeid: item for item in items}
        names = list(operation_names([short_name(node) for node in [*functions, *self._broken]]))
        self._items = dict(zip(names, functions.values()))
        # Stands among the tests, as one that cannot be set up: it has not passed.
        self._broken = dict(zip(names[len(functions) :], self._broken.values()))
        files = sorted({str(item.path) for item in items})
        self._files = {file: digest_of(Path(file).read_bytes()) for file in files}

    def begin(self) -> None:
        """A forked process does not come to the place where pytest removes what it no longer keeps."""
        if os.getpid() != self._collected_by:
            self._folder = tempfile.mkdtemp(prefix=OF_A_TRIAL)
            os.environ[FOLDERS_OF_TESTS] = self._folder

    def describe(self) -> dict[str, Any]:
        self._require_tests()
        operations = [
            (name, f"the test {item.nodeid}", place_of_test(item)) for name, item in self._items.items()
        ]
        operations += [(name, problem, "") for name, (problem, _) in self._broken.items()]
        answer = frameworks.description(operations, "test", self._provenance())
        python, own = answer["provenance"]["python"], packages_of_pytest()
        python["packages"] = {name: v for name, v in python["packages"].items() if name.lower() not in own}
        return {**answer, "remarks": self._remarks}

    def provenance(self, cell: Cell) -> dict[str, Any]:
        return {**self._provenance(), "device": frameworks.device_of(cell["backend"])}

    def make_workload(self, cell: Cell, seed: int) -> Workload:
        self._require_tests()
        if cell["op"] in self._broken:
            problem, said = self._broken[cell["op"]]
            print(said, file=sys.stderr)
            raise SetupFailed(problem)
        item = self._items.get(cell["op"])
        if item is None:
            raise Unsupported(f"op={cell['op']}: no test of {self._node} is called so")
        frameworks.seed_generators(seed)
        return TestWorkload(item, cell)

    def end(self, forked: bool, status: int) -> None:
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
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
