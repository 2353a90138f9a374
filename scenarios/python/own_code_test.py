"""Somebody's own functions and tests, run by the program as a person runs them."""

from __future__ import annotations

import array
import dataclasses
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from mpsprobe import own_code, program, provenance, pytest_items, values
from mpsprobe.worker import is_installed

BUILD = Path(os.environ.get("MPSPROBE_BUILD", ""))

APP = """
import ctypes, itertools, threading

def infer(thread, iteration):
    return [thread + iteration, {"a": 1.5}]

def wrong(thread, iteration):
    off = threading.current_thread() is not threading.main_thread() and thread == 1
    return [1.0, 2.0, 3.5 if off and iteration == 3 else 3.0]

counter = itertools.count()

def never_the_same():
    return next(counter)

def raises(thread):
    if thread == 1:
        raise KeyError("missing")
    return 1

def crashes(thread):
    if thread == 1:
        ctypes.string_at(8)

def bad_setup_setup():
    raise OSError("no such model")

def bad_setup():
    return 1

def takes_an_image(image):
    return image

def full(thread):
    raise ValueError(f"queue {thread * 17 + 3} is full at 0x{id(thread):x}")

async def later():
    return 1

limit = 3

def badly_left():
    return 1

def badly_left_thread_teardown(thread):
    raise OSError("cannot close")

def stack():
    attributes, size = ctypes.create_string_buffer(64), ctypes.c_size_t()
    libc = ctypes.CDLL(None)
    libc.pthread_self.restype = ctypes.c_ulong
    libc.pthread_getattr_np(ctypes.c_ulong(libc.pthread_self()), attributes)
    libc.pthread_attr_getstacksize(attributes, ctypes.byref(size))
    return round(size.value / 2**20)

def stack_expected():
    return 3

def spin():
    return sum(range(300000))
"""

# What reaches the main thread from outside, what becomes of sys.stdout, and what an exception says of itself.
OUTSIDE = """
import array
import contextlib, io, os, random, signal, subprocess, sys, time, _thread

def interrupted():
    _thread.interrupt_main()
    return 1

def asked_to_end():
    os.kill(os.getpid(), signal.SIGINT)
    return 1

def ring(*_):
    raise TimeoutError("the alarm rang")

from signal import SIGALRM, signal as set_handler
set_handler(SIGALRM, ring)

def rings():
    signal.setitimer(signal.ITIMER_REAL, 0.0005)
    time.sleep(0.05)

def storm(*_):
    signal.raise_signal(signal.SIGALRM)
    ring()

def storms():
    os.kill(os.getpid(), signal.SIGALRM)
    time.sleep(0.05)

def storms_setup():
    signal.signal(signal.SIGALRM, storm)

rung = []

def ring_for_a_while(*_):  # not into the interpreter's end, when nothing handles it
    rung.append(1)
    if len(rung) == 20:
        signal.setitimer(signal.ITIMER_REAL, 0)
    ring()

def alarm_setup():
    signal.signal(signal.SIGALRM, ring_for_a_while)
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.0007)

def alarm():
    return sum(range(100000))

def to_null():
    with contextlib.redirect_stdout(open(os.devnull, "w")):
        print("nothing")

def to_nowhere():
    with contextlib.redirect_stdout(None):
        print("nothing")

def without():
    sys.stdout = None

def closed():
    sys.stdout.close()

def errors_to_null():
    with contextlib.redirect_stderr(open(os.devnull, "w")):
        print("nothing", file=sys.stderr)

def errors_closed():
    sys.stderr = io.StringIO()
    sys.stderr.close()
    raise LookupError("told all the same")

class Mute(Exception):
    def __str__(self):
        raise OSError("no words")

def mute():
    raise Mute

def signals_the_runner():
    os.kill(os.getppid(), signal.SIGUSR1)
    return 1

def draws():
    with open("drawn", "a") as file:
        file.write(f"{random.random()}\\n")
    if random.random() < 0.3:
        raise ValueError("drawn")

def computes():
    while True:
        sum(range(10000))

def waits_for_a_child():
    subprocess.run([sys.executable, "-c", "while True: sum(range(10000))"])
"""

# Exceptions that come of others, and of a thread of one's own.
CHAIN = """
import threading

def caused():
    try:
        {}["lane"]
    except KeyError as problem:
        raise RuntimeError("it cannot be had") from problem

def handled():
    try:
        {}["lane"]
    except KeyError:
        raise LookupError("no lane at all")

def of_itself():
    problem = ValueError("of itself")
    raise problem from problem

def in_a_thread():
    thread = threading.Thread(target=caused)
    thread.start()
    thread.join()
"""

# Ends while its threads work.
LEAVING = """
import atexit, time

held = {"it": 1}

@atexit.register
def close():
    held.clear()
    time.sleep(0.2)

def waits_for_nobody():
    return 1

def needs_it():
    return held["it"]
"""

# What has no comparison, or one of its own.
RESULTS = """
import threading

class Refusing:
    def __eq__(self, other):
        raise RuntimeError("no comparison")

def refusing():
    return Refusing()

def within_itself():
    found = []
    found.append(found)
    return found

def refusing_beside_wrong(thread, iteration):
    alone = threading.current_thread() is threading.main_thread()
    return Refusing() if iteration == 0 else alone

def refusing_beside_wrong_expected(thread, iteration):
    return Refusing() if iteration == 0 else True
"""

# Fails where two threads are inside at once, in their third call: planted, without a race.
PLANTED = """
import threading

door = threading.Barrier(2)

def planted(thread, iteration):
    main = threading.current_thread() is threading.main_thread()
    alone = threading.active_count() < 3  # nobody would come: that need not be waited for
    if iteration == 2 and thread < 2 and not main and not alone:
        try:
            door.wait(10)
        except threading.BrokenBarrierError:
            return 0
        raise ValueError(f"two at once, one of them {thread}")
    return 0
"""

PLANTED_TEST = (
    PLANTED
    + """
import pytest

@pytest.fixture(scope="module")
def zero():
    return 0

class TestPlanted:
    @pytest.mark.parametrize("more", [0, 1])
    def test_sum(self, zero, more):
        me = names.setdefault(threading.get_ident(), len(names))
        calls[me] = calls.get(me, -1) + 1
        assert planted(me, calls[me]) + more == zero + more

names, calls = {}, {}
"""
)

# What a release of a library does that stands in a variable.
RELEASES = """
import os
release = int(os.environ["RELEASE"])

def infer(thread):
    if release >= 6:
        raise RuntimeError("There is no Stream(cpu, 0) in current thread.")
    if release >= 3 and thread == 1:
        raise ValueError("broken")
    return 1
"""

SUITE = """
import ctypes, os, pytest, threading

@pytest.fixture
def numbers():
    return [1, 2, 3]

def test_fine(numbers):
    assert sum(numbers) == 6

class TestMore:
    def test_wrong(self, numbers):
        assert sum(numbers) == 7, "sums are off"

def test_dies():
    ctypes.string_at(8)

def test_aborts():
    os.abort()

def test_waits():
    threading.Semaphore(0).acquire()

def test_flaky(tries=[]):
    if not tries:
        tries.append(1)
        try:
            os.close(os.open(os.path.dirname(__file__) + "/first", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        raise ValueError("the first of all trials fails")

@pytest.mark.skip(reason="not on Tuesdays")
def test_skipped():
    pass
"""


# Options that report, choose and repeat, of plugins that every pytest has; and tests that need more than
# a call.
SUITE_AS_IT_IS = """
import logging, unittest

def test_shown(capsys):
    print("hello")
    assert capsys.readouterr().out == "hello\\n"

def test_logged(caplog):
    with caplog.at_level(logging.INFO):
        logging.info("hello")
    assert "hello" in caplog.text

def test_folder(tmp_path):
    file = tmp_path / "own"
    with open(file, "x"):
        pass
    file.unlink()

async def test_later():
    assert False

class TestCase(unittest.TestCase):
    def setUp(self):
        self.made = 1

    def test_made(self):
        self.assertEqual(self.made, 1)

    @unittest.skip("not on Mondays")
    def test_skipped(self):
        self.fail()

    @unittest.expectedFailure
    def test_expected(self):
        self.assertEqual(1, 2)

    def test_wrong(self):
        self.assertEqual(1, 2)
"""

SUITE_WITH_A_LONG_TEST = """
import os, time

def test_long(tmp_path):
    with open(os.environ["CALLS"], "a") as calls:
        print(tmp_path, file=calls)
    time.sleep(1.1)
"""

# As pytest's documentation has it.
REPORTS_FOR_FIXTURES = """
import pytest

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    report = (yield).get_result()
    item.reports = {**getattr(item, "reports", {}), report.when: report}
"""

SUITE_THAT_ENDS_BADLY = """
import pytest

@pytest.fixture
def open_file():
    yield 1
    assert False, "still open"

@pytest.fixture(scope="session")
def server():
    yield 1
    raise OSError("it does not stop")

@pytest.fixture
def asks(request):
    yield 1
    went = request.node.reports
    assert (went["setup"].passed, went["call"].failed) == (True, request.node.name == "test_both"), "told wrongly"

@pytest.fixture
def skipped_late():
    yield 1
    pytest.skip("late")

def test_file(open_file):
    pass

def test_server(server):
    pass

def test_asking(asks, tmp_path):
    pass

def test_both(server, asks):
    raise ValueError("the test itself")

def test_late(skipped_late):
    pass

def test_known():
    pytest.xfail("since Monday")

@pytest.fixture
def known():
    pytest.xfail("since Tuesday")

def test_known_before(known):
    pass
"""

STREAMS = """
import mlx.core as mx
import threading

cleared, clear_streams = [], getattr(mx, "clear_streams", lambda: None)

def clear():
    cleared.append(threading.current_thread())
    clear_streams()

mx.clear_streams = clear

def ends():
    return 3

def ends_expected():
    return len([each for each in cleared if each is not threading.main_thread()])
"""


DOCTESTS = """
def right():
    '''
    >>> same = right
    >>> same()
    1
    '''
    return 1

def wrong():
    '''
    >>> right() + 2
    4
    '''

def raises():
    '''
    >>> {}["lane"]
    1
    '''
"""

PRINTS = """
import atexit, json

print("loading {", json.dumps({"a": {"mpsprobe_worker": 1}}), '{"b": 1e999}', end="")
atexit.register(print, "left {}")

def f():
    return 1
"""


class OwnCodeTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="mpsprobe-own-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "app.py").write_text(APP)

    def mpsprobe(self, *words: str, code: int = 0, typed: str = "") -> str:
        done = subprocess.run(
            [BUILD / "bin/mpsprobe", *words],
            cwd=self.folder,
            input=typed,
            env={**os.environ, "MPSPROBE_PYTHON": sys.executable},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    def cells(self, *words: str) -> dict[str, dict[str, Any]]:
        self.mpsprobe("run", *words, "--trials", "2", "--out", "out")
        report = json.loads((self.folder / "out/report.json").read_text())
        return {cell["cell"].split("/")[1]: cell for cell in report["cells"]}

    def cells_again(self, *words: str) -> dict[str, dict[str, Any]]:
        shutil.rmtree(self.folder / "out")
        return self.cells(*words)

    def report(self) -> str:
        return (self.folder / "out/report.md").read_text() + (self.folder / "out/details.md").read_text()


class OwnCode(OwnCodeTest):
    def test_what_becomes_of_a_function_is_told(self) -> None:
        names = "infer,wrong,never_the_same,raises,crashes"
        cells = self.cells("--python", f"app.py::{names}", "--threads", "2")
        failed = {name: cell["failures"] for name, cell in cells.items()}
        self.assertEqual(
            failed, {"infer": 0, "wrong": 2, "never_the_same": 0, "raises": 2, "crashes": 2}, self.report()
        )
        report = self.report()
        self.assertIn("at [2]: expected 3.0, got 3.5", report)
        self.assertIn("KeyError: missing", report)
        self.assertIn("string_at", report)
        self.assertIn(f"--env MPSPROBE_PYTHON_CODE={self.folder.resolve()}/app.py::{names}", report)

    def test_what_a_module_prints_when_it_is_imported_and_left_is_let_pass(self) -> None:
        (self.folder / "prints.py").write_text(PRINTS)
        cell = self.cells("--python", "prints.py::f", "--threads", "2")["f"]
        self.assertEqual((cell["failures"], cell["counted"]), (0, 2), self.report())

    def test_a_failure_of_the_setup_is_none_of_the_function(self) -> None:
        said = self.mpsprobe("run", "--python", "app.py::bad_setup", "--trials", "2", "--out", "out", code=4)
        self.assertIn("setup_failed: setup of", said)
        self.assertIn("OSError: no such model (app.py:", said)
        self.assertIn("OSError: no such model (app.py:", self.report())

    def failures_outside(self, names: str, *words: str) -> dict[str, tuple[int, int]]:
        (self.folder / "outside.py").write_text(OUTSIDE)
        cells = self.cells("--python", f"outside.py::{names}", "--threads", "4", *words)
        return {name: (cell["failures"], cell["counted"]) for name, cell in cells.items()}

    def signatures(self) -> list[str]:
        report = json.loads((self.folder / "out/report.json").read_text())
        return [each["title"] for each in report["signatures"]]

    def test_what_a_handler_raises_on_the_main_thread_is_the_outcome(self) -> None:
        names = ("interrupted", "asked_to_end", "alarm", "rings", "storms")
        self.assertEqual(self.failures_outside(",".join(names)), dict.fromkeys(names, (2, 2)), self.report())
        self.assertEqual(sorted(self.signatures()), ["KeyboardInterrupt", "TimeoutError: the alarm rang"])

    def test_whatever_becomes_of_stdout_is_no_failure(self) -> None:
        names = ("to_null", "to_nowhere", "without", "closed", "errors_to_null", "errors_closed")
        failed = self.failures_outside(",".join(names))
        self.assertEqual(failed, {name: (2 if name == "errors_closed" else 0, 2) for name in names}, self.report())
        self.assertEqual(self.signatures(), ["LookupError: told all the same"])

    def test_an_exception_without_words_keeps_its_type(self) -> None:
        self.failures_outside("mute")
        self.assertEqual(self.signatures(), ["Mute: <exception str() failed>"])

    def test_a_chain_of_exceptions_is_titled_by_its_cause_and_not_by_what_was_handled(self) -> None:
        (self.folder / "chain.py").write_text(CHAIN)
        self.cells("--python", "chain.py::caused,handled,of_itself", "--threads", "2")
        titles = ["KeyError: lane", "LookupError: no lane at all", "ValueError: of itself"]
        self.assertEqual(sorted(self.signatures()), titles)

    def test_what_a_thread_of_theirs_dies_of_is_none_of_the_interpreters_end(self) -> None:
        (self.folder / "chain.py").write_text(CHAIN)
        cell = self.cells("--python", "chain.py::in_a_thread", "--threads", "2")["in_a_thread"]
        self.assertEqual((cell["failures"], cell["counted"]), (2, 2), self.report())
        self.assertEqual(self.signatures(), ["KeyError: lane"])
        self.assertNotIn("interpreter's end", self.report())

    def test_an_import_that_hangs_is_waited_for_as_long_as_was_said(self) -> None:
        (self.folder / "slow.py").write_text("import threading\nthreading.Event().wait()\n")
        words = ("run", "--python", "slow.py::f", "--timeout", "1", "--out", "out")
        self.assertIn("did not answer within 1 s", self.mpsprobe(*words, code=3))

    def test_a_signal_that_says_nothing_does_not_end_the_run(self) -> None:
        self.assertEqual(self.failures_outside("signals_the_runner"), {"signals_the_runner": (0, 2)})

    def test_each_trial_draws_its_own_numbers_and_its_seed_draws_them_again(self) -> None:
        (self.folder / "outside.py").write_text(OUTSIDE)
        run = ("run", "--python", "outside.py::draws", "--jobs", "1", "--iterations", "1", "--warmup", "none")
        self.mpsprobe(*run, "--trials", "12", "--out", "out")
        drawn = (self.folder / "drawn").read_text().split()
        self.assertEqual(len(set(drawn)), 12, drawn)
        failure = json.loads((self.folder / "out/report.json").read_text())["signatures"][0]["first"]
        self.assertIn(f"(seed {failure['seed']})", self.report())
        (self.folder / "drawn").unlink()
        self.mpsprobe(*run, "--trials", "1", "--seed", failure["seed"], "--out", "again")
        self.assertIn((self.folder / "drawn").read_text().strip(), drawn)
        again = json.loads((self.folder / "again/report.json").read_text())
        self.assertEqual(again["cells"][0]["failures"], 1)

    def test_what_computes_at_the_limit_is_slow_and_no_hang(self) -> None:
        (self.folder / "outside.py").write_text(OUTSIDE)
        words = ("--python", "outside.py::computes,waits_for_a_child", "--threads", "4", "--trials", "2")
        self.mpsprobe("run", *words, "--stall", "1", "--timeout", "6", "--out", "out", code=4)
        report = self.report()
        self.assertIn("4 trials were still computing at the limit of 6 s, neither passed nor failed", report)
        self.assertIn("a longer --timeout", report)
        self.assertIn("while True: sum(range(10000))", report)
        self.assertIn("outside.py\", line", report)
        if sys.platform == "linux" and "its stack cannot be read" not in report:
            in_child = report.split("a process that it started (python")[1]
        self.assertRegex(in_child, "PyEval_EvalFrameDefault|frames of the interpreter")

    def test_two_versions_of_a_file_are_never_added_up(self) -> None:
        app = self.folder / "edited.py"
        app.write_text("def f():\n    return 1\n\ndef f_expected():\n    return 1\n")
        run = ("run", "--python", "edited.py::f", "--jobs", "1", "--trials", "4", "--iterations", "1")
        app.write_text(app.read_text().replace("return 1", "import os; os.kill(os.getppid(), 2); return 1", 1))
        self.mpsprobe(*run, "--out", "out", code=130)
        kept = app.read_text()
        app.write_text("def f():\n    return 2\n\ndef f_expected():\n    return 1\n")
        said = self.mpsprobe("run", "--resume", "out", code=3)
        self.assertIn("edited.py was changed: it was SHA-256 ", said)
        self.assertIn("put back the one that the run began with, or begin a new run", said)
        # In the same second, of the same length: what is kept of the interpreter's compiler may not stand for it.
        app.write_text(kept.replace("os.kill(os.getppid(), 2)", "open(__file__, 'a').write('#')"))
        said = self.mpsprobe(*run, "--out", "changed", code=6)
        report = json.loads((self.folder / "changed/report.json").read_text())
        self.assertEqual((report["cells"][0]["failures"], report["cells"][0]["counted"]), (0, 1))
        self.assertIn("edited.py was changed", said)

    def test_an_exception_has_its_type_and_no_number_that_varies(self) -> None:
        self.cells("--python", "app.py::full", "--threads", "1,3")
        self.assertIn("ValueError: queue N is full at N", self.report())

    def test_a_failure_at_a_threads_end_is_told(self) -> None:
        left = self.cells("--python", "app.py::badly_left", "--threads", "2")["badly_left"]
        self.assertEqual((left["failures"], left["counted"]), (2, 2), self.report())
        self.assertEqual(self.signatures(), ["OSError: cannot close"])

    def test_a_module_that_a_call_does_not_find_is_an_exception(self) -> None:
        (self.folder / "late.py").write_text("def late():\n    import nowhere\n")
        late = self.cells("--python", "late.py::late", "--threads", "2")["late"]
        self.assertEqual((late["failures"], late["counted"]), (2, 2), self.report())

    def test_threads_go_on_until_the_process_has_ended(self) -> None:
        (self.folder / "leaving.py").write_text(LEAVING)
        names = "leaving.py::waits_for_nobody,needs_it"
        cells = self.cells("--python", names, "--threads", "4", "--end", "exit", "--stall", "3")
        failed = {name: (cell["failures"], cell["counted"]) for name, cell in cells.items()}
        self.assertEqual(failed, {"waits_for_nobody": (0, 2), "needs_it": (2, 2)}, self.report())
        self.assertEqual(self.signatures(), ["KeyError: it"])

    def test_what_cannot_be_compared_is_unchecked(self) -> None:
        (self.folder / "results.py").write_text(RESULTS)
        names = ("refusing", "within_itself", "refusing_beside_wrong")
        cells = self.cells("--python", f"results.py::{','.join(names)}", "--threads", "2")
        failed = {name: (cell["failures"], cell["counted"]) for name, cell in cells.items()}
        self.assertEqual(failed, {**dict.fromkeys(names, (0, 2)), names[2]: (2, 2)}, self.report())

    def test_threads_have_the_stack_that_the_cell_says(self) -> None:
        cells = self.cells("--python", "app.py::stack", "--threads", "2", "--stack", str(3 * 2**20))
        self.assertEqual((cells["stack"]["failures"], cells["stack"]["counted"]), (0, 2), self.report())
        self.assertEqual(self.cells_again("--python", "app.py::stack")["stack"]["failures"], 2)

    def test_stages_that_a_function_has_not_are_refused(self) -> None:
        said = self.mpsprobe(
            *("run", "--python", "app.py::infer", "--threads", "2", "--meet", "stage"),
            *("--trials", "1", "--out", "out"),
            code=4,
        )
        self.assertIn("infer has no stages", said)

    def test_what_was_computed_inside_calls_is_told(self) -> None:
        cells = self.cells("--python", "app.py::spin", "--threads", "4")
        overlap = cells["spin"]["overlap"]
        self.assertGreater(overlap["inside_seconds"], overlap["inside_cpu_seconds"])
        self.assertGreater(overlap["cpu_seconds"], 0)
        self.assertIn("Inside calls of Python", self.report())
        if getattr(sys, "_is_gil_enabled", lambda: True)() and overlap["state"] == "seen":
            self.assertIn("used one processor or less", self.report())

    def test_a_bisection_leaves_out_what_refuses(self) -> None:
        (self.folder / "lib.py").write_text(RELEASES)
        builds = []
        for release in range(1, 9):
            script = self.folder / f"r{release}"
            script.write_text(
                f'#!/bin/sh\nRELEASE={release} exec "{BUILD}/bin/mpsprobe-python-worker" "$@"\n'
            )
            script.chmod(0o755)
            builds.append(f"r{release}={script}")
        said = self.mpsprobe(
            *("bisect", "--python", "lib.py::infer", "--threads", "2", "--builds", ",".join(builds)),
            *("--out", "bisect"),
        )
        self.assertIn("The failure began with r3 (", said)
        result = json.loads((self.folder / "bisect/bisect.json").read_text())
        self.assertEqual(result["cell"], "cpu/infer/default/threads=2")
        refused = {build["name"]: build["unusable"] for build in result["builds"] if "unusable" in build}
        self.assertLessEqual(set(refused), {"r6", "r7", "r8"})
        for why in refused.values():
            self.assertIn("no trial came to a result that is a pass or a failure: refused", why)

    def test_a_function_that_cannot_be_called_is_refused_with_the_remedy(self) -> None:
        said = self.mpsprobe("run", "--python", "app.py::takes_an_image", "--out", "out", code=3)
        self.assertIn("takes (image). It is called with (thread, iteration), or with nothing", said)

    def test_what_is_not_there_is_named(self) -> None:
        (self.folder / "broken.py").write_text("import nowhere\n")
        for words, said in (
            (("app.py::",), "does not say which function"),
            (("nowhere.py::infer",), "nowhere.py is not there"),
            (("app.py::nothing",), "has no function nothing"),
            (("app.py::infr",), "has no function infr. It has infer"),
            (("app.py::limit",), "is no function: it is of type int"),
            (("app.py::later",), "is a coroutine function"),
            (("broken.py::infer",), "No module named 'nowhere' (broken.py:1). Install it for this interpreter, or"),
            (("nowhere::infer",), "No module named 'nowhere'. Install it"),
        ):
            with self.subTest(words):
                done = subprocess.run(
                    [BUILD / "bin/mpsprobe", "run", "--python", *words],
                    cwd=self.folder,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(said, done.stderr)

    @unittest.skipIf(find_spec("pytest") is None, "this interpreter has no pytest")
    def test_no_test_of_a_suite_is_lost_when_one_crashes(self) -> None:
        (self.folder / "test_suite.py").write_text(SUITE)
        words = ("--threads", "2", "--stall", "1", "--format", "json,markdown,junit")
        cells = self.cells("--pytest", "test_suite.py", *words)
        failed = {name: (cell["failures"], cell["counted"]) for name, cell in cells.items()}
        expected = {
            "suite.fine": (0, 2),
            "suite.testmore.wrong": (2, 2),
            "suite.dies": (2, 2),
            "suite.aborts": (2, 2),
            "suite.waits": (2, 2),
            "suite.flaky": (1, 2),
            "suite.skipped": (0, 0),
        }
        self.assertEqual(failed, expected, self.report())
        self.assertIn("not on Tuesdays", self.report())
        cases = {
            case.attrib["name"].split("/")[1]: sorted(child.tag for child in case)
            for case in ElementTree.parse(self.folder / "out/junit.xml").iter("testcase")
        }
        self.assertEqual(set(cases), set(expected))
        for name, (failures, counted) in expected.items():
            seen = {"failure", "error"} & set(cases[name])
            self.assertEqual(bool(seen), failures > 0, (name, cases[name]))
            self.assertEqual("skipped" in cases[name], counted == 0, (name, cases[name]))

    @unittest.skipIf(find_spec("pytest") is None, "this interpreter has no pytest")
    def test_what_pytest_cannot_collect_is_in_every_report_and_never_green(self) -> None:
        (self.folder / "test_fine.py").write_text("def test_fine():\n    pass\n")
        (self.folder / "test_bad.py").write_text("import nowhere\n")
        words = ("--pytest", ".", "--threads", "1-4", "--format", "json,markdown,html,junit", "--fail-on", "never")
        said = self.mpsprobe("run", *words, "--trials", "2", "--out", "out", code=6)
        why = "collecting test_bad.py: ModuleNotFoundError: No module named"
        for text in (said, self.report(), (self.folder / "out/report.html").read_text()):
            self.assertIn(why, text.replace("\\", ""))
        junit = ElementTree.parse(self.folder / "out/junit.xml")
        errors = [case.find("error") for case in junit.iter("testcase") if "/bad/" in case.attrib["name"]]
        self.assertTrue(any(why in error.attrib["message"] for error in errors if error is not None), errors)
        report = json.loads((self.folder / "out/report.json").read_text())
        counted = [cell["counted"] for cell in report["cells"] if "/fine.fine/" in cell["cell"]]
        self.assertEqual(counted, [2, 2, 2, 2])

    @unittest.skipIf(find_spec("pytest") is None, "this interpreter has no pytest")
    def test_a_suite_is_taken_as_it_is_with_one_thread(self) -> None:
        (self.folder / "test_suite.py").write_text(SUITE_AS_IT_IS)
        options = "-ra -q -v --tb=short --ff --color=yes --junitxml=own.xml"
        (self.folder / "pytest.ini").write_text(f"[pytest]\naddopts = {options}\n")
        cells = self.cells("--pytest", ".", "--threads", "1", "--iterations", "2")
        failed = {name: (cell["failures"], cell["counted"]) for name, cell in cells.items()}
        later = failed["suite.later"]
        self.assertIn(later, [(2, 2), (0, 0)], "pytest fails it, before 8.4 it skips it")
        expected = {
            "suite.shown": (0, 2),
            "suite.logged": (0, 2),
            "suite.folder": (0, 2),
            "suite.later": later,
            "suite.testcase.made": (0, 2),
            "suite.testcase.skipped": (0, 0),
            "suite.testcase.expected": (0, 0),
            "suite.testcase.wrong": (2, 2),
        }
        self.assertEqual(failed, expected, self.report())
        self.assertFalse((self.folder / "own.xml").exists())

    @unittest.skipIf(find_spec("pytest") is None, "this interpreter has no pytest")
    def test_a_doctest_runs_with_one_thread(self) -> None:
        (self.folder / "pytest.ini").write_text("[pytest]\naddopts = --doctest-modules\n")
        (self.folder / "lib.py").write_text(DOCTESTS)
        cells = self.cells("--pytest", "lib.py", "--threads", "1")
        failed = {name: (cell["failures"], cell["counted"]) for name, cell in cells.items()}
        self.assertEqual(failed, {"lib.lib.right": (0, 2), "lib.lib.wrong": (2, 2), "lib.lib.raises": (2, 2)})
        self.assertIn("KeyError: lane", self.report())
        self.assertIn("expected 4, got 3", self.report())
        said = self.mpsprobe("run", "--pytest", "lib.py", "--threads", "2", "--out", "shared", code=4)
        self.assertIn("a DoctestItem is no function: it runs with one thread alone", said)

    @unittest.skipIf(find_spec("pytest") is None, "this interpreter has no pytest")
    def test_a_suite_is_collected_once_and_no_test_is_called_for_long(self) -> None:
        (self.folder / "test_suite.py").write_text(SUITE_WITH_A_LONG_TEST)
        calls = self.folder / "calls"
        cells = self.cells("--pytest", ".", "--threads", "1", "--env", f"CALLS={calls}")
        self.assertEqual([(cell["failures"], cell["counted"]) for cell in cells.values()], [(0, 2)], self.report())
        folders = calls.read_text().splitlines()
        self.assertEqual(len(folders), 2, "one call in each of two trials")
        if sys.platform == "linux":
            journal = (self.folder / "out/journal.ndjson").read_text()
            self.assertEqual(journal.count('"start":"fork"'), 2, journal)
            self.assertFalse([folder for folder in folders if os.path.exists(folder)])

    @unittest.skipIf(find_spec("pytest") is None, "this interpreter has no pytest")
    def test_what_threads_cannot_share_is_named(self) -> None:
        (self.folder / "test_suite.py").write_text(SUITE_AS_IT_IS)
        cells = self.cells("--pytest", ".", "--threads", "4", "--iterations", "5")
        counted = {name for name, cell in cells.items() if cell["counted"]}
        self.assertEqual(counted, {"suite.folder", "suite.testcase.made", "suite.testcase.wrong"}, self.report())
        self.assertIn("threads cannot share the fixture capsys", self.report())


    @unittest.skipIf(find_spec("pytest") is None, "this interpreter has no pytest")
    def test_what_fails_after_a_test_is_its_failure(self) -> None:
        (self.folder / "conftest.py").write_text(REPORTS_FOR_FIXTURES)
        (self.folder / "test_suite.py").write_text(SUITE_THAT_ENDS_BADLY)
        for threads in ("1", "2"):
            cells = self.cells("--pytest", ".", "--threads", threads)
            failed = {name: (cell["failures"], cell["counted"]) for name, cell in cells.items()}
            expected = {
                "suite.file": (2, 2),
                "suite.server": (2, 2),
                "suite.asking": (0, 2),
                "suite.both": (2, 2),
                "suite.late": (0, 2),
                "suite.known": (0, 0),
                "suite.known_before": (0, 0),
            }
            self.assertEqual(failed, expected, self.report())
            for said in ("AssertionError: still open", "OSError: it does not stop", "since Monday", "since Tuesday"):
                self.assertIn(said, self.report())
            self.assertIn("ValueError: the test itself", self.signatures())
            self.assertNotIn("told wrongly", self.report())
            shutil.rmtree(self.folder / "out")

    @unittest.skipIf(find_spec("pytest") is None, "this interpreter has no pytest")
    def test_why_pytest_comes_to_no_test_is_told(self) -> None:
        (self.folder / "test_suite.py").write_text("def test_fine():\n    pass\n")
        raising = "def {}():\n    raise LookupError('no model')\n"
        for file, text, said in (
            ("pytest.ini", "[pytest]\naddopts = --nowhere\n", "error: unrecognized arguments: --nowhere"),
            ("conftest.py", "import nowhere\n", "No module named 'nowhere'"),
            ("conftest.py", raising.format("pytest_configure"), "LookupError: no model (conftest.py:2)"),
            ("conftest.py", raising.format("pytest_collection_modifyitems"), "LookupError: no model (conftest.py:2)"),
        ):
            with self.subTest(text):
                (self.folder / file).write_text(text)
                self.assertIn(said, self.mpsprobe("run", "--pytest", ".", "--out", "out", code=3))
                (self.folder / file).unlink()


class OfPackages(unittest.TestCase):
    def test_a_folder_of_ones_own_is_no_package_that_is_called_so(self) -> None:
        library = os.path.dirname(os.__file__)
        self.assertTrue(provenance.lies_below(json, library))
        self.assertFalse(provenance.lies_below(json, library[:-1]))
        self.assertFalse(provenance.lies_below(json, "/elsewhere"))
        self.assertFalse(provenance.lies_below(types.ModuleType("without"), library))

    def test_folders_of_trials_that_crashed_go_after_a_day(self) -> None:
        with tempfile.TemporaryDirectory() as temporary, unittest.mock.patch("tempfile.tempdir", temporary):
            old, new = (Path(tempfile.mkdtemp(prefix=pytest_items.OF_A_TRIAL)) for _ in range(2))
            os.utime(old, (0, 0))
            pytest_items.remove_remains()
            self.assertEqual(list(Path(temporary).iterdir()), [new])

    @unittest.skipIf(find_spec("pytest") is None, "this interpreter has no pytest")
    def test_what_pytest_brings_is_nothing_of_a_suite(self) -> None:
        self.assertLessEqual({"pytest", "pluggy", "packaging"}, pytest_items.packages_of_pytest())


class OwnCodeReduced(OwnCodeTest):
    def reduce(self, *words: str, threads: str) -> dict[str, Any]:
        """A run of the planted defect, then repro: what it came to, its programs tried."""
        self.mpsprobe("run", *words, "--threads", threads, "--trials", "4", "--out", "out")
        said = self.mpsprobe("repro", "out", "--out", "repro", "--no-conditions")
        minimum: dict[str, Any] = json.loads((self.folder / "repro/minimum.json").read_text())
        proofs = json.loads((self.folder / "repro/proofs.json").read_text())
        failing = [proof for proof in proofs if proof["kind"] == "python" and proof["arm"] == "failing"]
        self.assertTrue(failing and failing[0]["held"], said + json.dumps(proofs))
        return minimum

    def test_a_function_is_reduced_to_a_program_that_fails(self) -> None:
        (self.folder / "planted.py").write_text(PLANTED)
        minimum = self.reduce("--python", "planted.py::planted", "--warmup", "none,main", threads="4")
        self.assertEqual(minimum["cell"], "cpu/planted/default/threads=2/iterations=3")
        self.assertEqual(minimum["signature"], "ValueError: two at once, one of them N")

    def test_its_file_is_packed_where_it_was_seen_and_agreed_to(self) -> None:
        (self.folder / "planted.py").write_text(PLANTED)
        self.mpsprobe("run", "--python", "planted.py::planted", "--threads", "3", "--trials", "4", "--out", "out")
        refused = self.mpsprobe("feedback", "out", "--with-code", "--out", "none", code=2)
        self.assertIn("Run `mpsprobe repro` of a run of it first", refused)
        self.mpsprobe("repro", "out", "--no-conditions")

        def texts(place: str) -> dict[str, str]:
            files = (self.folder / place).glob("feedback-*/**/*")
            return {file.name: file.read_text() for file in files if file.is_file()}

        self.mpsprobe("feedback", "out", "--out", "without")
        self.assertNotIn("def planted", "".join(texts("without").values()))
        self.assertIn("whose file was not packed", texts("without")["issue.md"])
        self.assertIn("--with-code", texts("without")["README.md"])
        # Nothing of it is PyTorch's.
        self.assertIn("### What happens\n", texts("without")["issue.md"])
        self.assertNotRegex(texts("without")["issue.md"], "(?i)torch")
        self.assertIn(f"\nPython: cpython {platform.python_version()}\n", texts("without")["issue.md"])
        wrong = self.mpsprobe("feedback", "out", "--for", "pytorch", "--out", "none", code=2)
        self.assertIn("Say --for generic", wrong)
        self.mpsprobe("feedback", "out", "--with-code", "--out", "none", code=2, typed="no\n")
        self.assertEqual(texts("none"), {})
        shown = self.mpsprobe("feedback", "out", "--with-code", "--out", "with", typed="yes\n")
        self.assertIn("def planted", shown)
        packed = texts("with")
        self.assertEqual(packed["planted.py"], PLANTED)
        for text in (packed["reproducer.py"], PLANTED):
            self.assertIn(text.strip(), packed["issue.md"])
        self.assertNotIn(str(self.folder), "".join(packed.values()))
        program = next((self.folder / "with").glob("feedback-*/programs/python/reproducer.py"))
        done = subprocess.run([sys.executable, program], cwd="/", check=False, capture_output=True)
        self.assertEqual(done.returncode, 1, done.stderr)

    @unittest.skipIf(find_spec("pytest") is None, "this interpreter has no pytest")
    def test_a_test_is_reduced_to_a_program_that_fails(self) -> None:
        (self.folder / "test_planted.py").write_text(PLANTED_TEST)
        minimum = self.reduce("--pytest", "test_planted.py::TestPlanted::test_sum[1]", threads="3")
        self.assertEqual(minimum["cell"].partition("/default/")[2], "threads=2/iterations=3")


@unittest.skipIf(not is_installed("mlx"), "this interpreter has no mlx")
class OnMlx(OwnCodeTest):
    def test_threads_clear_their_streams_when_they_end(self) -> None:
        (self.folder / "app.py").write_text(STREAMS)
        cells = self.cells("--python", "app.py::ends", "--threads", "3", "--leave", "clear-streams")
        self.assertEqual((cells["ends"]["failures"], cells["ends"]["counted"]), (0, 2), self.report())
        # Not where the cell says nothing of it; and the main thread never.
        cells = self.cells_again("--python", "app.py::ends", "--threads", "3", "--warmup", "main")
        self.assertEqual(cells["ends"]["failures"], 2, self.report())
        self.assertIn("expected 0, got 3", self.report())


class Array:
    """As arrays of any library are."""

    def __init__(self, numbers: Any, dtype: str = "float32") -> None:
        self.numbers, self.dtype = numbers, f"library.{dtype}"
        self.shape = (len(numbers),) if isinstance(numbers, list) else ()

    def tolist(self) -> Any:
        return self.numbers

    def __repr__(self) -> str:
        return "Array"


class Values(unittest.TestCase):
    def test_an_array_without_dimensions_is_a_number(self) -> None:
        for got, expected in ((Array(1.5), 1.5), (1.5, Array(1.5)), (Array(1.5), Array(1.5))):
            self.assertEqual(values.difference(got, expected), "")

    def test_what_is_the_same(self) -> None:
        nan = float("nan")
        for value in (1, 1.5, "a", None, [1, [2.0, nan]], {"a": (1, 2)}, {1, 2}):
            self.assertEqual(values.difference(value, value), "", value)
        self.assertEqual(values.difference([1.0, 1000.0], [1.00001, 1000.0]), "")

    def test_a_data_class_with_slots_is_compared_by_its_fields(self) -> None:
        @dataclasses.dataclass
        class Found:
            __slots__ = ("count", "size")
            count: int
            size: float

        self.assertEqual(values.difference(Found(1, 2.0), Found(1, 2.00001)), "")
        self.assertEqual(values.difference(Found(1, 2.0), Found(2, 2.0)), "at ['count']: expected 2, got 1")

    @unittest.skipIf(find_spec("numpy") is None, "this interpreter has no NumPy")
    def test_long_doubles_are_compared_by_value(self) -> None:
        import numpy

        def wide(*numbers: float) -> Any:
            return numpy.array(numbers, dtype=numpy.longdouble)

        for one, other in ((wide(1.0, 1000.0), wide(1.00001, 1000.0)), (wide(1.5)[0], 1.5), (1.5, wide(1.5)[0])):
            self.assertEqual(values.difference(one, other), "")
        self.assertIn("at [1]: expected ", values.difference(wide(1.0, 2.0), wide(1.0, 3.0)))
        self.assertIn("expected ", values.difference(wide(1.0)[0], wide(2.0)[0]))

    def test_what_cannot_be_compared_is_no_failure(self) -> None:
        class Vector:
            def __eq__(self, other: object) -> Any:
                return Undecided()

        class Undecided:
            def __bool__(self) -> bool:
                raise ValueError("the truth of an array is ambiguous")

        circle: list[Any] = []
        circle.append(circle)
        other: list[Any] = []
        other.append(other)
        deep: Any = 1
        for _ in range(sys.getrecursionlimit()):
            deep = [deep]
        for got, expected in ((Vector(), Vector()), (circle, other), (deep, deep), ([Vector()], [Vector()])):
            with self.assertRaises(values.Incomparable):
                values.difference(got, expected)

    def test_an_integer_that_no_float_holds_is_compared(self) -> None:
        self.assertEqual(values.difference([10**400, 1.0], [10**400, 1.0]), "")
        self.assertIn("at [0]: expected 1.5", values.difference([10**400], [1.5]))

    def test_what_differs_is_named(self) -> None:
        for got, expected, said in (
            (1, 2, "expected 2, got 1"),
            (True, 1, "expected 1, got True"),
            ([1, 2], [1, 3], "at [1]: expected 3, got 2"),
            ({"a": [0]}, {"a": [1]}, "at ['a'][0]: expected 1, got 0"),
            ([1], [1, 2], "expected [1, 2], got [1]"),
            (Array([1.0], "float16"), Array([1.0], "float32"), "expected shape (1,) of float32, got shape (1,) of float16"),
            (Array(1.5), 2.5, "expected 2.5, got 1.5"),
            ([1.0], Array([1.0]), "expected Array, got [1.0]"),
            (None, 0, "expected 0, got None"),
        ):
            self.assertEqual(values.difference(got, expected), said)


class Growing(unittest.TestCase):
    """A fast function is called on until two threads are inside."""

    def calls(self, inside: bool = False, **cell: str) -> int:
        code = types.SimpleNamespace(place="app.py", module=types.SimpleNamespace(fast=lambda: 1), beside=lambda *_: None)
        values_of = {"threads": "2", "iterations": "10", "lock": "none", "start": "barrier", **cell}
        workload = own_code.OwnWorkload(code, "fast", program.Cell(values_of.get), False)
        workload.inside[1] = inside
        lane = workload.make_lane(0)
        with unittest.mock.patch.object(own_code, "GROWS_FOR", 0.01):
            for iteration in range(10):
                lane.launch(iteration)
        return lane.check().checked + lane.check().unchecked

    def test_until_two_threads_are_inside_or_its_time_is_over(self) -> None:
        self.assertGreater(self.calls(), 10)
        self.assertEqual(self.calls(inside=True), 10)

    def test_not_where_none_can_meet_nor_where_iterations_were_given(self) -> None:
        for cell in ({"threads": "1"}, {"lock": "forward"}, {"start": "sequential"}, {"iterations": "12"}):
            self.assertEqual(self.calls(**cell), 10, cell)


class Buffers(unittest.TestCase):
    """Arrays are compared by what they hold: a list of a large one takes longer than a trial may stand still."""

    class Held:
        """An array of a library that gives its numbers, and would take long to list them."""

        def __init__(self, numbers: list[Any], kind: str, shape: tuple[int, ...]) -> None:
            self.shape = shape
            self.held = memoryview(array.array(kind, numbers))

        def tolist(self) -> Any:
            raise AssertionError("listed")

        def __array__(self) -> memoryview:
            return self.held

    def differs(self, got: list[Any], expected: list[Any], kind: str, shape: tuple[int, ...]) -> str:
        return values.difference(self.Held(got, kind, shape), self.Held(expected, kind, shape))

    def test_the_same_numbers(self) -> None:
        nan, infinite = float("nan"), float("inf")
        self.assertEqual(self.differs([1.0, nan], [1.0, nan], "f", (2,)), "")
        self.assertEqual(self.differs([1000.0, infinite, 1.001], [1000.0, infinite, 1.0], "d", (3,)), "")
        self.assertEqual(self.differs([0.0, -0.0], [-0.0, 0.0], "f", (2, 1)), "")

    def test_what_differs_is_named_by_row_and_column(self) -> None:
        many = [float(i % 7) for i in range(3 * values.CHUNK)]
        late = many[:]
        late[2 * values.CHUNK + 5] = 9.0
        row, column = divmod(2 * values.CHUNK + 5, 3)
        self.assertEqual(
            self.differs(late, many, "f", (values.CHUNK, 3)),
            f"at [{row}][{column}]: expected {many[2 * values.CHUNK + 5]}, got 9.0",
        )
        self.assertEqual(self.differs([True, False], [True, True], "b", (2,)), "at [1]: expected 1, got 0")
        self.assertEqual(self.differs([1, 2], [1, 3], "i", (2,)), "at [1]: expected 3, got 2")
        for wrong in (float("nan"), float("inf")):
            self.assertEqual(self.differs([wrong], [1.0], "d", (1,)), f"at [0]: expected 1.0, got {wrong}")
            self.assertEqual(self.differs([1.0], [wrong], "d", (1,)), f"at [0]: expected {wrong}, got 1.0")

    def test_an_array_that_gives_no_numbers_is_listed(self) -> None:
        self.assertEqual(values.difference(Array([1.0, 2.0]), Array([1.0, 2.5])), "at [1]: expected 2.5, got 2.0")


class Names(unittest.TestCase):
    def test_a_folder_may_be_called_as_functions_are_named(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "d::e" / "app.py"
            file.parent.mkdir()
            file.write_text(APP)
            code = own_code.Code(f"{file}::infer,wrong")
            self.assertEqual((code.place, code.functions), (str(file), ["infer", "wrong"]))

    def test_names_are_fit_for_a_cell_and_never_the_same(self) -> None:
        names = own_code.operation_names(["infer", "Infer", "a" * 60, "a" * 61, "größe"])
        self.assertEqual(len(names), 5)
        for name in names:
            self.assertRegex(name, r"^[a-z0-9_.]{1,40}$")


if __name__ == "__main__":
    unittest.main()
