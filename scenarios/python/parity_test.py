"""Holds the tables of Python's operations against those of the C++ workers: what `describe` says, and what
each operation computes of the same seed.

Needs mlx or torch in the interpreter that runs it, of a release that a C++ worker was built for; skips,
saying so, what is not there.
"""

from __future__ import annotations

import json
import os
import subprocess
import unittest
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

BUILD = Path(os.environ["MPSPROBE_BUILD"])
SOURCE = Path(__file__).resolve().parents[2]
SEED = 7
THREAD = 1
KEYS = ("name", "summary", "source", "paths", "has_parameters", "dtypes", "shape", "dimensions", "made_of")


@cache
def said(program: str, *arguments: str) -> Any:
    """What a program of the build prints."""
    path = BUILD / "bin" / program
    if not path.exists():
        raise unittest.SkipTest(f"{path} was not built")
    return json.loads(subprocess.run([path, *arguments], check=True, stdout=subprocess.PIPE).stdout)


class Parity:
    """What is alike for both frameworks."""

    worker = ""
    numbers = ""
    matrices: tuple[str, ...] = ("affected", "default")

    def table(self) -> dict[str, Any]:
        raise NotImplementedError

    def described(self) -> list[dict[str, Any]]:
        raise NotImplementedError

    def computed(self, operation: Any) -> list[Any]:
        """Values of each result."""
        raise NotImplementedError

    def unit(self, values: Any) -> float:
        raise NotImplementedError

    def test_describe(self) -> None:
        ours = {row["name"]: {key: row.get(key) for key in KEYS} for row in self.described()}
        theirs = {
            row["name"]: {key: row.get(key) for key in KEYS}
            for row in said(self.worker, "describe")["operations"]
            if not row["name"].startswith("selftest.") and row.get("source") != "self-test"
        }
        for name, row in ours.items():
            self.assertEqual(row, theirs[name], name)
            self.assertLessEqual(set(row["made_of"]), set(ours), name)

    def test_has_what_the_matrices_run(self) -> None:
        for matrix in self.matrices:
            file = SOURCE / "scenarios" / "matrices" / f"{matrix}.json"
            for block in json.loads(file.read_text(encoding="utf-8"))["blocks"]:
                self.assertLessEqual(set(block["axes"].get("op", [])), set(self.table()), matrix)

    def test_numbers(self) -> None:
        from mpsprobe.comparison import Values, difference

        compared = 0
        for name, results in said(self.numbers).items():
            operation = self.table().get(name)
            if operation is None:
                continue
            got = self.computed(operation)
            self.assertEqual(len(got), len(results), name)
            for mine, other in zip(got, results):
                with self.subTest(name):
                    import array

                    sizes = tuple(other["sizes"])
                    self.assertEqual(mine.sizes, sizes)
                    right = Values(sizes, "d", array.array("d", other["numbers"]).tobytes())
                    terms = operation.terms(operation.sizes_of("default"))
                    found = difference(mine, right, operation.rounding, self.unit(mine), terms)
                    self.assertEqual(found, "")
                    compared += 1
        self.assertGreater(compared, 6)


@unittest.skipUnless(find_spec("mlx"), "no mlx in this interpreter")
class MlxParity(Parity, unittest.TestCase):
    matrices = ("affected", "default", "mlx", "mlx-known")

    @classmethod
    def setUpClass(cls) -> None:
        import mlx.core as mx

        cls.worker = f"mpsprobe-mlx-worker-{mx.__version__}"
        cls.numbers = f"mpsprobe-mlx-numbers-{mx.__version__}"

    def table(self) -> dict[str, Any]:
        from mpsprobe.operations_mlx import OPERATIONS

        return OPERATIONS

    def described(self) -> list[dict[str, Any]]:
        from mpsprobe.mlx_program import MlxProgram

        operations: list[dict[str, Any]] = MlxProgram().describe()["operations"]
        return operations

    def computed(self, operation: Any) -> list[Any]:
        import mlx.core as mx

        from mpsprobe.comparison import Numbers
        from mpsprobe.mlx_program import read_back, to_arrays
        from mpsprobe.operations_mlx import Call

        sizes = operation.sizes_of("default")
        inputs = operation.inputs(Numbers(SEED, 2 + 2 * THREAD), sizes) if operation.inputs else []
        weights = operation.parameters(Numbers(SEED, 0), sizes) if operation.parameters else []
        call = Call(sizes, to_arrays(inputs), to_arrays(weights), mx.default_stream(mx.cpu), THREAD)
        results = operation.run(call)
        mx.eval(results)
        return [read_back(each) for each in results]

    def unit(self, values: Any) -> float:
        from mpsprobe.mlx_program import UNITS

        return UNITS[values.format]


@unittest.skipUnless(find_spec("torch"), "no torch in this interpreter")
class TorchParity(Parity, unittest.TestCase):
    worker = "mpsprobe-worker"
    numbers = "mpsprobe-torch-numbers"

    def table(self) -> dict[str, Any]:
        from mpsprobe.torch_program import OPERATIONS

        return OPERATIONS

    def described(self) -> list[dict[str, Any]]:
        from mpsprobe.torch_program import TorchProgram

        operations: list[dict[str, Any]] = TorchProgram().describe()["operations"]
        return operations

    def computed(self, operation: Any) -> list[Any]:
        import torch

        from mpsprobe.operations_torch import Call
        from mpsprobe.random_torch import Random
        from mpsprobe.torch_program import values

        sizes = operation.sizes_of("default")
        inputs = operation.inputs(Random(SEED, 2 + 2 * THREAD), sizes) if operation.inputs else []
        weights = operation.parameters(Random(SEED, 0), sizes) if operation.parameters else []
        options = {"device": "cpu", "dtype": torch.float32}
        results = operation.run(Call(sizes, inputs, weights, options, THREAD))
        return [values(each, torch.float64) for each in results]

    def unit(self, values: Any) -> float:
        return 2.0**-23


if __name__ == "__main__":
    unittest.main()
