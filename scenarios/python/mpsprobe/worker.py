"""The worker that the runner starts: `mpsprobe-python-worker`, or `python3 -m mpsprobe.worker`.

`mpsprobe-python-worker environment REQUIREMENT...` makes one in an environment of its own (environment.py).
Which program it runs otherwise stands in its environment, which a run's set-up carries everywhere:

MPSPROBE_PYTHON_CODE       FILE_OR_MODULE::FUNCTION[,FUNCTION]: somebody's own functions
MPSPROBE_PYTEST            a pytest node id: somebody's own tests
MPSPROBE_PYTHON_FRAMEWORK  torch or mlx, where both are installed; none: self-tests alone
"""

from __future__ import annotations

import faulthandler
import gc
import os
import signal
import sys
from importlib import import_module
from importlib.util import find_spec

from . import _runtime, interruptions
from .program import Program, SetupFailed

# Variable of the environment, and the program that it asks for: module and class.
PROGRAMS: tuple[tuple[str, str, str], ...] = (
    ("MPSPROBE_PYTHON_CODE", "own_code", "OwnCodeProgram"),
    ("MPSPROBE_PYTEST", "pytest_items", "PytestProgram"),
)
FRAMEWORKS = {
    "mlx": ("mlx_program", "MlxProgram"),
    "none": ("selftest", "SelftestProgram"),
    "torch": ("torch_program", "TorchProgram"),
}


def framework() -> str:
    """The framework of this worker: one a process, as a report tells builds apart."""
    asked = os.environ.get("MPSPROBE_PYTHON_FRAMEWORK")
    if asked:
        if asked not in FRAMEWORKS:
            raise SetupFailed(f"MPSPROBE_PYTHON_FRAMEWORK={asked}: possible are {', '.join(FRAMEWORKS)}")
        return asked
    installed = [name for name in ("mlx", "torch") if is_installed(name)]
    if not installed:
        mlx = "mlx" if sys.platform == "darwin" else "'mlx[cpu]'"
        raise SetupFailed(
            f"{sys.executable} has neither mlx nor torch that can be loaded. Install one: pip install {mlx}"
        )
    # The one that has a device here, as the runner chooses a backend where none is named.
    has_device = sys.platform == "darwin" or os.path.exists("/dev/nvidiactl")
    return "torch" if "torch" in installed and (has_device or len(installed) == 1) else installed[0]


def is_installed(framework: str) -> bool:
    """Does not load it. A folder of that name is no framework yet: such a module has no origin."""
    try:
        spec = find_spec({"mlx": "mlx.core"}.get(framework, framework))
    except ModuleNotFoundError:
        return False
    return spec is not None and spec.origin is not None


def make_program() -> Program:
    asked = [row[1:] for row in PROGRAMS if os.environ.get(row[0])]
    module, class_name = asked[0] if asked else FRAMEWORKS[framework()]
    if not asked:
        gc.disable()  # modules leave no garbage to look for
    try:
        program: Program = getattr(import_module(f"{__package__}.{module}"), class_name)()
    finally:
        gc.enable()
    return program


def main(arguments: list[str] | None = None) -> int:
    """The program: with the arguments of this process where none are given."""
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["environment"]:
        from . import environment  # needed here alone

        return environment.main(words[1:])
    # First, so that the library's handler lies over it: it notes what it sees and hands on.
    faulthandler.enable(all_threads=True)
    if hasattr(signal, "SIGUSR2"):
        faulthandler.register(signal.SIGUSR2, all_threads=True, chain=False)
    interruptions.watch()
    try:
        program = make_program()
        return program.around(lambda: _runtime.run(program, words))
    except SetupFailed as problem:
        print(f"mpsprobe-python-worker: {problem}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
