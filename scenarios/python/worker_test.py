"""Runs the Python worker by the runner: what it tells of crashes, hangs, exceptions, ends and overlap.

Every misbehaviour goes through the C++ self-test worker as well, and must get the same outcome and title.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from importlib.util import find_spec
from pathlib import Path
from typing import Any

BUILD = Path(os.environ["MPSPROBE_BUILD"])
RUNNER = BUILD / "bin/mpsprobe"
PYTHON_WORKER = BUILD / "bin/mpsprobe-python-worker"
SELFTEST_WORKER = BUILD / "bin/mpsprobe-selftest-worker"
TRIALS = int(os.environ.get("MPSPROBE_TEST_TRIALS", "1"))

# As C++ dies of them, so must Python.
ALIKE = (
    *("null_dereference", "nested_crash", "null_call", "wild_call", "bus_error", "trap"),
    *("illegal_instruction", "division", "wild_free", "abort", "abort_encoder", "exception"),
    *("exception_on_main", "exit_zero", "exit_eleven", "killed", "wrong_numbers", "crash_early"),
    "crash_teardown",
)
HANGS = ("deadlock", "lock_cycle", "busy_loop", "hang_early")


def run(cells: list[str], workers: dict[str, Path], framework: str, *more: str) -> dict[str, Any]:
    """The report of these cells."""
    environment = {**os.environ, "MPSPROBE_PYTHON_FRAMEWORK": framework, "MPSPROBE_PYTHON": sys.executable}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        command: list[Any] = [RUNNER, "run", "--out", out, "--known-good", "never", *more]
        for name, path in workers.items():
            command += ["--worker", f"{name}={path}"]
        for cell in cells:
            command += ["--cell", cell]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if not (out / "report.json").exists():
            raise AssertionError(done.stdout.decode(errors="replace"))
        report: dict[str, Any] = json.loads((out / "report.json").read_text())
        return report


def outcomes(report: dict[str, Any]) -> dict[tuple[str, str], list[str]]:
    """By arm and cell, sorted."""
    return {
        (row["arm"], row["cell"]): sorted(o["outcome"] for o in row["outcomes"] for _ in range(o["trials"]))
        for row in report["cells"]
    }


def titles(report: dict[str, Any]) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for signature in report["signatures"]:
        for where in signature["cells"]:
            rows = found.setdefault((where["arm"], where["cell"]), [])
            rows += [signature["title"]] * where["failures"]
    return found


def selftest(name: str, threads: int = 3, more: str = "") -> str:
    return f"cpu/selftest.{name}/default/threads={threads}/iterations=4{more}"


class Misbehaviours(unittest.TestCase):
    def compare(self, names: tuple[str, ...], *more: str) -> dict[tuple[str, str], list[str]]:
        cells = [selftest(name) for name in names]
        workers = {"cpp": SELFTEST_WORKER, "python": PYTHON_WORKER}
        report = run(cells, workers, "none", "--trials", str(TRIALS), "--stall", "2", *more)
        seen, named = outcomes(report), titles(report)
        for cell in cells:
            with self.subTest(cell):
                self.assertEqual(seen["python", cell], seen["cpp", cell])
                self.assertEqual(named.get(("python", cell)), named.get(("cpp", cell)))
        return named

    def test_die_as_in_cpp(self) -> None:
        self.compare(ALIKE)

    def test_hang_as_in_cpp(self) -> None:
        named = self.compare(HANGS, "--timeout", "8")  # which ends those that hang before the start
        cycle = named["python", selftest("lock_cycle")]
        self.assertTrue(all("lock cycle" in title for title in cycle), cycle)

    def test_die_as_in_cpp_when_forked(self) -> None:
        self.compare(("nested_crash", "exception", "exit_eleven", "wrong_numbers"), "--start-process", "fork")


class WhereItIsCalled(unittest.TestCase):
    def test_is_not_where_modules_are_looked_for(self) -> None:
        """It may be a bundle or a run that somebody else made."""
        with tempfile.TemporaryDirectory() as folder:
            ran = Path(folder) / "ran"
            (Path(folder) / "mpsprobe").mkdir()
            for name in ("mpsprobe/__init__.py", "mpsprobe/worker.py", "dataclasses.py", "ctypes.py"):
                (Path(folder) / name).write_text(f"open({str(ran)!r}, 'w')")
            environment = {**os.environ, "MPSPROBE_PYTHON_FRAMEWORK": "none", "MPSPROBE_PYTHON": sys.executable}
            said = subprocess.run(
                [PYTHON_WORKER, "describe"], cwd=folder, env=environment, capture_output=True, check=True
            )
            self.assertIn("operations", json.loads(said.stdout))
            self.assertFalse(ran.exists())


class Environment(unittest.TestCase):
    """What bisect makes for each release, here without one."""

    def test_its_worker_runs_from_a_folder_with_a_space(self) -> None:
        with tempfile.TemporaryDirectory(prefix="mpsprobe it's ") as folder:
            make = "from mpsprobe import environment as e; e.install = lambda at, _: e.venv.create(at); "
            variables = {**os.environ, "XDG_CACHE_HOME": folder, "MPSPROBE_PYTHON_FRAMEWORK": "none"}
            made = subprocess.run(
                [sys.executable, "-c", make + "print(e.make(['none']))"],
                env=variables, stdout=subprocess.PIPE, text=True, check=True,
            )
            worker = made.stdout.strip()
            self.assertTrue(worker.startswith(folder))
            said = subprocess.run([worker, "describe"], env=variables, stdout=subprocess.PIPE, check=True)
            self.assertIn("operations", json.loads(said.stdout))


class OfPython(unittest.TestCase):
    """What only an interpreter does."""

    def title_of(self, name: str, *more: str) -> tuple[str, str]:
        cell = selftest(name)
        report = run([cell], {"python": PYTHON_WORKER}, "none", "--trials", "1", "--stall", "2", *more)
        named = titles(report).get(("python", cell), [""])
        return outcomes(report)["python", cell][0], named[0]

    def test_an_error_of_python_is_named(self) -> None:
        outcome, title = self.title_of("error_of_python")
        self.assertEqual(outcome, "exception")
        self.assertIn("planted error of Python", title)

    def test_a_thread_that_exits_is_an_exception(self) -> None:
        outcome, title = self.title_of("system_exit")
        self.assertEqual(outcome, "exception")
        self.assertIn("SystemExit", title)

    def test_a_lock_of_threading_hangs(self) -> None:
        self.assertEqual(self.title_of("python_lock")[0], "hang")

    def test_a_binding_that_keeps_the_interpreter_hangs(self) -> None:
        self.assertEqual(self.title_of("held_interpreter")[0], "hang")

    def test_a_crash_of_the_interpreters_end_is_of_the_phase_finalise(self) -> None:
        outcome, title = self.title_of("crash_finalise")
        self.assertEqual(outcome, "signal")
        self.assertIn("at the interpreter's end", title)


class Observer(unittest.TestCase):
    """observe=rules in the interpreter's process, as the runner starts it: no backend of PyTorch's has Metal here."""

    def events(self, preloaded: str) -> list[dict[str, Any]]:
        environment = {**os.environ, "MPSPROBE_PYTHON_FRAMEWORK": "none", "MPSPROBE_PYTHON": sys.executable}
        environment["LD_PRELOAD"] = preloaded
        size = 840384  # of the flight recorder, docs/protocol.md
        with tempfile.TemporaryFile() as recorder:
            recorder.write(struct.pack("<8sII", b"mpsprob2", 2, size).ljust(size, b"\0"))
            recorder.flush()
            events, told = os.pipe()
            gate, leash = os.pipe()
            os.write(leash, b"\1")

            def descriptors() -> None:
                kept = [os.dup(each) for each in (recorder.fileno(), told, gate)]
                for target, each in zip((3, 4, 5), [fcntl.fcntl(each, fcntl.F_DUPFD, 20) for each in kept]):
                    os.dup2(each, target)

            worker = subprocess.Popen(
                [PYTHON_WORKER, "run", "--cell", selftest("pass", 2, "/observe=rules")],
                env=environment,
                preexec_fn=descriptors,
                close_fds=False,
                stderr=subprocess.DEVNULL,
            )
            os.close(told)
            os.close(gate)
            with open(events) as lines:
                read = [json.loads(line) for line in lines]
            worker.wait()
            os.close(leash)
            return read

    def test_begins_where_there_is_metal(self) -> None:
        if not (BUILD / "lib/libmpsprobe_observer.so").exists():
            self.skipTest("built without the observer")
        read = self.events(str(BUILD / "lib/libmpsprobe_metal_face.so"))
        self.assertIn("result", [each["event"] for each in read])
        observed = [each for each in read if each["event"] == "observed"]
        self.assertEqual([each["calls"] for each in observed], [0, 0], read)

    def test_says_where_there_is_none(self) -> None:
        if not (BUILD / "lib/libmpsprobe_observer.so").exists():
            self.skipTest("built without the observer")
        last = self.events("")[-1]
        self.assertEqual((last["event"], last["kind"]), ("failure", "unsupported"))
        self.assertIn("no object of Metal here to watch", last["text"])


class Leash(unittest.TestCase):
    def test_ends_a_worker_that_keeps_the_interpreter(self) -> None:
        """The runner is killed while a thread sleeps with the interpreter's lock."""
        times = []
        for _ in range(TRIALS):
            times.append(self.seconds_from_runner_to_worker())
        self.assertLess(max(times), 0.1, times)

    def seconds_from_runner_to_worker(self) -> float:
        environment = {
            **os.environ,
            "MPSPROBE_PYTHON_FRAMEWORK": "none",
            "MPSPROBE_PYTHON": sys.executable,
        }
        with tempfile.TemporaryDirectory() as folder:
            runner = subprocess.Popen(
                [
                    *(RUNNER, "run", "--cell", selftest("held_interpreter"), "--trials", "1"),
                    *("--worker", f"python={PYTHON_WORKER}", "--out", Path(folder) / "out"),
                ],
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            try:
                worker = self.wait_for_worker(runner.pid)
                began = time.monotonic()
                runner.send_signal(signal.SIGKILL)
                while is_alive(worker) and time.monotonic() - began < 10:
                    time.sleep(0.001)
                return time.monotonic() - began
            finally:
                runner.kill()
                runner.wait()

    def wait_for_worker(self, runner: int) -> int:
        """The child that runs the cell, when its threads sleep."""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            for child in children_of(runner):
                if b"--cell" in text_of(f"/proc/{child}/cmdline") and sleeps(child):
                    return child
            time.sleep(0.01)
        raise AssertionError("the worker never came to sleep")


def text_of(path: str) -> bytes:
    """Empty where the process has ended."""
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def children_of(process: int) -> list[int]:
    """Of all its threads."""
    tasks = Path(f"/proc/{process}/task").glob("*")
    return [int(child) for task in tasks for child in text_of(f"{task}/children").split()]


def sleeps(process: int) -> bool:
    """A thread of it is in pause()."""
    tasks = Path(f"/proc/{process}/task").glob("*")
    calls = [text_of(f"{task}/syscall").split() for task in tasks]
    return any(call and call[0] in (b"34", b"73") for call in calls)  # pause; on arm64 ppoll


def is_alive(process: int) -> bool:
    state = text_of(f"/proc/{process}/stat").rpartition(b")")[2].split()
    return bool(state) and state[0] not in (b"Z", b"X")


# Not those whose thread's end fails in MLX 0.32.4.
CELLS = {
    "mlx": [f"mlx/{op}/default/threads=1/iterations=2" for op in ("mm", "chain", "linear", "lazy")],
    "torch": [f"cpu/{op}/default/threads=4/iterations=2" for op in ("mm", "mlp", "raw", "unary_mix")],
}


class Frameworks(unittest.TestCase):
    """Operations of what is installed here pass, in both ways in which a process is started."""

    def check(self, framework: str, start: str) -> None:
        if find_spec(framework) is None:
            self.skipTest(f"no {framework} in this interpreter")
        cells = CELLS[framework]
        workers = {"python": PYTHON_WORKER}
        report = run(cells, workers, framework, "--trials", "2", "--start-process", start)
        for cell in cells:
            self.assertEqual(outcomes(report)["python", cell], ["pass", "pass"], cell)

    def test_mlx_executed(self) -> None:
        self.check("mlx", "exec")

    def test_mlx_standing_by(self) -> None:
        self.check("mlx", "standby")

    def test_torch_executed(self) -> None:
        self.check("torch", "exec")

    def test_torch_forked(self) -> None:
        self.check("torch", "fork")

    def test_an_axis_that_nobody_honours_is_refused(self) -> None:
        if find_spec("mlx") is None:
            self.skipTest("no mlx in this interpreter")
        cell = "mlx/chain/default/threads=2/sync=never"
        report = run([cell], {"python": PYTHON_WORKER}, "mlx", "--trials", "1")
        self.assertEqual(outcomes(report)["python", cell], ["unsupported"])


if __name__ == "__main__":
    unittest.main()
