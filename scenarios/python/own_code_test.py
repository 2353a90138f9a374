"""Somebody's own functions and tests, run by the program as a person runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mpsprobe import own_code, values

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
"""

SUITE = """
import ctypes, pytest

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

@pytest.mark.skip(reason="not on Tuesdays")
def test_skipped():
    pass
"""


class OwnCode(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="mpsprobe-own-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "app.py").write_text(APP)

    def mpsprobe(self, *words: str, code: int = 0) -> str:
        done = subprocess.run(
            [BUILD / "bin/mpsprobe", *words],
            cwd=self.folder,
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

    def report(self) -> str:
        return (self.folder / "out/report.md").read_text() + (self.folder / "out/details.md").read_text()

    def test_what_becomes_of_a_function_is_told(self) -> None:
        names = "infer,wrong,never_the_same,raises,crashes"
        cells = self.cells("--python", f"app.py::{names}", "--threads", "2")
        failed = {name: cell["failures"] for name, cell in cells.items()}
        self.assertEqual(
            failed, {"infer": 0, "wrong": 2, "never_the_same": 0, "raises": 2, "crashes": 2}, self.report()
        )
        report = self.report()
        self.assertIn("at [2]: expected 3.0, got 3.5", report)
        self.assertIn("'missing'", report)
        self.assertIn("string_at", report)
        self.assertIn(f"--env MPSPROBE_PYTHON_CODE={self.folder.resolve()}/app.py::{names}", report)

    def test_a_failure_of_the_setup_is_none_of_the_function(self) -> None:
        said = self.mpsprobe("run", "--python", "app.py::bad_setup", "--trials", "2", "--out", "out", code=4)
        self.assertIn("setup_failed: setup of", said)
        self.assertIn("OSError: no such model", said)

    def test_a_function_that_cannot_be_called_is_refused_with_the_remedy(self) -> None:
        said = self.mpsprobe("run", "--python", "app.py::takes_an_image", "--trials", "1", "--out", "out", code=4)
        self.assertIn("takes (image)", said + self.report())

    def test_what_is_not_there_is_named(self) -> None:
        for words, said in (
            (("app.py",), "does not say which function"),
            (("nowhere.py::infer",), "nowhere.py is not there"),
            (("app.py::nothing",), "has no function nothing"),
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
        cells = self.cells("--pytest", "test_suite.py", "--threads", "2")
        failed = {name: (cell["failures"], cell["counted"]) for name, cell in cells.items()}
        self.assertEqual(
            failed,
            {
                "suite.fine": (0, 2),
                "suite.testmore.wrong": (2, 2),
                "suite.dies": (2, 2),
                "suite.skipped": (0, 0),
            },
            self.report(),
        )
        self.assertIn("not on Tuesdays", self.report())


class Values(unittest.TestCase):
    def test_what_is_the_same(self) -> None:
        nan = float("nan")
        for value in (1, 1.5, "a", None, [1, [2.0, nan]], {"a": (1, 2)}, {1, 2}):
            self.assertEqual(values.difference(value, value), "", value)
        self.assertEqual(values.difference([1.0, 1000.0], [1.00001, 1000.0]), "")

    def test_what_differs_is_named(self) -> None:
        for got, expected, said in (
            (1, 2, "expected 2, got 1"),
            (True, 1, "expected 1, got True"),
            ([1, 2], [1, 3], "at [1]: expected 3, got 2"),
            ({"a": [0]}, {"a": [1]}, "at ['a'][0]: expected 1, got 0"),
            ([1], [1, 2], "expected [1, 2], got [1]"),
            (None, 0, "expected 0, got None"),
        ):
            self.assertEqual(values.difference(got, expected), said)


class Names(unittest.TestCase):
    def test_names_are_fit_for_a_cell_and_never_the_same(self) -> None:
        names = own_code.operation_names(["infer", "Infer", "a" * 60, "a" * 61, "größe"])
        self.assertEqual(len(names), 5)
        for name in names:
            self.assertRegex(name, r"^[a-z0-9_.]{1,40}$")


if __name__ == "__main__":
    unittest.main()
