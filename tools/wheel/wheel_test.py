#!/usr/bin/env python3
"""The package as a user meets it: built from this tree, installed into an empty environment, run with nothing else on
the path. And that check_wheel.py finds what is wrong with a wheel.

  wheel_test.py [WHEEL]      without a wheel tools/build-wheel --quick makes one
  wheel_test.py --built      the newest that tools/build-wheel has made; without one exit code 77: skipped
"""

import json
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

import check_wheel  # noqa: E402

WHEEL = None


def setUpModule():
    global WHEEL
    if WHEEL is None:
        built = subprocess.run(
            [ROOT / "tools" / "build-wheel", "--quick"], stdout=subprocess.PIPE, text=True, check=True
        )
        WHEEL = ROOT / built.stdout.splitlines()[-1]


class Installed(unittest.TestCase):
    """In an environment of its own, whose folder of programs is all of PATH."""

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="mpsprobe-wheel-")
        home = pathlib.Path(cls.place.name)
        cls.environment = home / "environment"
        subprocess.run([sys.executable, "-m", "venv", cls.environment], check=True)
        cls.bin = cls.environment / "bin"
        cls.variables = {"PATH": str(cls.bin), "HOME": str(home), "LANG": "C.UTF-8"}
        cls.call("python3", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", str(WHEEL))

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    @classmethod
    def call(cls, program, *arguments, expect=0):
        done = subprocess.run(
            [cls.bin / program, *arguments],
            env=cls.variables,
            cwd=cls.place.name,
            text=True,
            capture_output=True,
            timeout=120,
        )
        assert done.returncode == expect, (
            f"{program} {arguments} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        )
        return done.stdout

    def test_tells_its_version(self):
        self.assertRegex(self.call("mpsprobe", "--version"), r"\d+\.\d+\.\d+")

    def test_finds_its_data(self):
        self.assertIn("quick", self.call("mpsprobe", "list", "matrices"))
        self.assertIn("attention", self.call("mpsprobe", "list", "matrices"))

    def test_the_worker_for_python_finds_its_library(self):
        # There is no framework in this environment: its self-tests need none.
        asked = {**self.variables, "MPSPROBE_PYTHON_FRAMEWORK": "none"}
        done = subprocess.run(
            [self.bin / "mpsprobe-python-worker", "describe"], env=asked, capture_output=True, text=True, timeout=120
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        described = json.loads(done.stdout)
        self.assertIn("cpu", [backend["name"] for backend in described["backends"]])

    # Neither a framework, nor a compiler, nor a home that can be written.
    def test_the_simulated_device_and_the_self_tests_run_with_nothing_else(self):
        alone = {**self.variables, "HOME": "/nonexistent"}
        for words in (["--matrix", "--backend", "sim"], ["--matrix", "selftest", "--filter", "*abort*"]):
            done = subprocess.run(
                [self.bin / "mpsprobe", "run", *words, "--trials", "2", "--out", f"out{len(words)}{words[1]}"],
                env=alone,
                cwd=self.place.name,
                text=True,
                capture_output=True,
                timeout=120,
            )
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("as expected", done.stdout)

    # What is missing is said in one line, with what to do.
    def test_says_what_a_program_of_ones_own_needs(self):
        pathlib.Path(self.place.name, "app.py").write_text("def infer():\n    return 1\n")
        done = subprocess.run(
            [self.bin / "mpsprobe", "run", "--python", "app.py::infer", "--backend", "mlx", "--trials", "1"],
            env=self.variables,
            cwd=self.place.name,
            text=True,
            capture_output=True,
            timeout=120,
        )
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("Traceback", done.stderr)
        self.assertLessEqual(len(done.stderr.splitlines()), 2, done.stderr)
        self.assertRegex(done.stderr, "pip install|Install")

    # libdw and libelf, beside the program; libarchive and Mbed TLS, in it.
    def test_names_a_crash_packs_it_and_keeps_its_counts(self):
        self.call(
            "mpsprobe",
            "run",
            "--cell",
            "cpu/selftest.nested_crash/default",
            "--trials",
            "2",
            "--out",
            "run",
            "--worker",
            f"planted={self.bin}/mpsprobe-selftest-worker",
        )
        report = json.loads(pathlib.Path(self.place.name, "run", "report.json").read_text())
        titles = [signature["title"] for signature in report["signatures"]]
        self.assertEqual(len(titles), 1)
        self.assertIn("nested_inner", titles[0])
        bundle = json.loads(self.call("mpsprobe", "feedback", "run", "--json", "--out", "packed"))["bundles"][0]
        with zipfile.ZipFile(pathlib.Path(self.place.name, bundle["archive"])) as archive:
            self.assertIsNone(archive.testzip())
        self.call("mpsprobe", "history", "add", "run", "--db", "nights.ndjson")


class Verified(unittest.TestCase):
    """What check_wheel.py says, of the wheel as it is and of one with something wrong."""

    def problems_with(self, change):
        with tempfile.TemporaryDirectory() as folder:
            spoilt = pathlib.Path(folder, pathlib.Path(WHEEL).name)
            with zipfile.ZipFile(WHEEL) as good, zipfile.ZipFile(spoilt, "w") as bad:
                for name in good.namelist():
                    name, data = change(name, good.read(name))
                    if data is not None:
                        bad.writestr(name, data)
            wheel = check_wheel.Wheel(str(spoilt))
            return [problem for check in check_wheel.CHECKS if check != check_wheel.size for problem in check(wheel)]

    def test_it_is_as_it_must_be(self):
        self.assertEqual(self.problems_with(lambda name, data: (name, data)), [])

    def without(self, part):
        return self.problems_with(lambda name, data: (name, None if part in name else data))

    def test_a_program_is_missing(self):
        self.assertEqual(
            self.without("scripts/mpsprobe-selftest-worker"), ["the program mpsprobe-selftest-worker is missing"]
        )

    def test_a_library_is_missing(self):
        problems = self.without("lib/mpsprobe/libelf.so")
        self.assertTrue(problems)
        self.assertTrue(all("takes libelf.so.1 from the machine" in problem for problem in problems), problems)

    def test_a_notice_is_missing(self):
        self.assertEqual(
            self.without("licenses/libpcre2-8-0.txt"), ["THIRD-PARTY.txt names libpcre2-8-0.txt, which is missing"]
        )

    def test_a_library_of_the_machine_is_taken(self):
        def other_zlib(name, data):
            return name, data.replace(b"libz.so.1\0", b"libq.so.1\0") if name.endswith("scripts/mpsprobe") else data

        [problem] = self.problems_with(other_zlib)
        self.assertIn("takes libq.so.1 from the machine", problem)

    def test_a_folder_of_the_machine_is_named(self):
        [problem] = self.problems_with(
            lambda name, data: (name, data + f"{ROOT}/x".encode() if name.endswith("matrices/quick.json") else data)
        )
        self.assertIn(f"quick.json names {ROOT}", problem)

    def test_a_platform_is_promised_that_it_was_not_built_for(self):
        with tempfile.TemporaryDirectory() as folder:
            renamed = pathlib.Path(folder, "mpsprobe-0-py3-none-any.whl")
            shutil.copy(WHEEL, renamed)
            self.assertEqual(
                check_wheel.platform(check_wheel.Wheel(str(renamed))), ["any is no platform that it is built for"]
            )


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1].endswith(".whl"):
        WHEEL = pathlib.Path(sys.argv.pop(1)).resolve()
    elif sys.argv[1:] == ["--built"]:
        sys.argv.pop(1)
        built = sorted(
            ROOT.glob(f"build/*dist/*manylinux*_{platform.machine()}.whl"), key=lambda file: file.stat().st_mtime
        )
        if not built:
            print("skipped: there is no wheel in build/dist. tools/build-wheel makes one")
            sys.exit(77)
        WHEEL = built[-1]
    unittest.main()
