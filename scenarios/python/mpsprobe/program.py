"""What a worker is made of: a program makes a workload of a cell, and a workload a lane for each thread.

The same three as in C++ (scenarios/worker/workload.h), where each call is described. A program is run
by `mpsprobe._runtime.run`; nothing here knows of ctypes.
"""

from __future__ import annotations

from collections import namedtuple

# As typing has it, which takes as long to load as half of MLX: no module that a trial of MLX loads takes
# it, or what loads it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, TypeVar

    Made = TypeVar("Made")


def record(made: type[Made]) -> type[Made]:
    """A named tuple of what the class annotates, with its defaults and methods."""
    fields, space = made.__annotations__, vars(made)
    base = namedtuple(made.__name__, fields, defaults=[space[name] for name in fields if name in space])
    own = {name: value for name, value in space.items() if name not in (*fields, "__dict__", "__weakref__")}
    return type(made.__name__, (base,), {**own, "__slots__": ()})


def backend_entry(name: str, device: str, reason: str = "", **more: Any) -> dict[str, Any]:
    """A backend as `describe` lists it. It is available where there is no reason against it."""
    of_device = {"available": not reason, "simulated": False, "device": device, "reason": reason}
    return {"name": name, **of_device, **more}


def own_row(name: str, summary: str, source: str, **more: Any) -> dict[str, Any]:
    """An operation that knows no shapes and dtypes, as `describe` lists it."""
    return {
        "name": name,
        "summary": summary,
        "source": source,
        "paths": ["default"],
        "has_parameters": False,
        "dtypes": ["default"],
        "shape": "default",
        "dimensions": "",
        **more,
    }


class Failure(Exception):
    """Ends what the calling thread does; the runner is told its kind and text."""

    kind = "exception"


class GpuError(Failure):
    """The device reported an error for work that it had accepted."""

    kind = "gpu_error"


class OutOfMemory(Failure):
    """Memory ran out, of the host or of the device."""

    kind = "out_of_memory"


class Unsupported(Failure):
    """The cell cannot run on this machine or with this library."""

    kind = "unsupported"


class SetupFailed(Failure):
    """Something outside the product is broken."""

    kind = "setup_failed"


class Checked:
    """What comparing one thread's results with the reference came to."""

    # No dataclass, here and in what else a trial of MLX loads: that module takes as long as all of MLX.
    def __init__(
        self, checked: int = 0, unchecked: int = 0, wrong_iteration: int = -1, difference: str = ""
    ) -> None:
        self.checked = checked
        self.unchecked = unchecked  # results that were not kept
        self.wrong_iteration = wrong_iteration  # first iteration with a wrong result
        self.difference = difference  # what was wrong there


class Cell:
    """The cell of a trial: the value of each axis as text, its default where the cell leaves it out."""

    def __init__(self, value_of: Callable[[str], str | None]) -> None:
        self._value_of = value_of

    def __getitem__(self, axis: str) -> str:
        value = self._value_of(axis)
        if value is None:
            raise KeyError(f"no axis is called {axis}")
        return value

    def get(self, axis: str, otherwise: str) -> str:
        value = self._value_of(axis)
        return otherwise if value is None else value

    def number(self, axis: str) -> int:
        return int(self[axis])


class Lane:
    """The work of one thread of a cell. Used by one thread at a time."""

    def operation(self) -> str:
        """What this lane executes, for the flight recorder. Called once, when it has been made."""
        raise NotImplementedError

    def enter(self) -> None:
        """On the thread that is going to launch, before the start."""

    def launch(self, iteration: int) -> None:
        """One iteration up to the point where the host's call returns."""
        raise NotImplementedError

    def synchronise(self) -> None:
        """Waits until the device has done what this lane launched."""

    def leave(self) -> None:
        """On the same thread after its last iteration, also where one raised."""

    def check(self) -> Checked:
        """On the main thread, after all threads have ended."""
        return Checked()


class Workload:
    """One operation on one backend, as one cell asks for it."""

    def touch_device(self) -> None:
        """First contact with the device, on the main thread."""

    def make_lane(self, thread: int) -> Lane:
        raise NotImplementedError

    def settle(self) -> None:
        """Waits for everything prepared so far."""

    def wait_beside(self) -> None:
        raise Unsupported("beside=wait: this backend has nothing that another thread waits for")

    def observed_path(self) -> str:
        return "not observed"

    def close(self) -> None:
        """When nobody needs it any more, in the tear-down."""


class Program:
    """The operations that a worker has and the library that it loads. One object a process."""

    # Whether its workloads have wait_beside: no axis otherwise.
    waits_beside = False

    # Whether a RuntimeError is told with its type. It is what bindings make of a C++ exception: of
    # mpsprobe's own operations its text alone, so that the same failure reads the same from C++.
    tells_runtime_error = False

    def around(self, run: Callable[[], int]) -> int:
        """Calls `run`, the whole life of the worker, once, where this program is ready for it."""
        return run()

    def begin(self) -> None:
        """In the process of the trial, after a fork where there is one, before all else."""

    def describe(self) -> dict[str, Any]:
        """The answer to `describe` (docs/protocol.md): operations, backends, axes of their own."""
        raise NotImplementedError

    def provenance(self, cell: Cell) -> dict[str, Any]:
        """Which library is really loaded. `cell` may lack what is at its default."""
        raise NotImplementedError

    def make_workload(self, cell: Cell, seed: int) -> Workload:
        """Reads of the cell what it needs: it does not live longer than this call."""
        raise NotImplementedError

    def end(self, forked: bool, status: int) -> None:
        """Ends the process in this program's way, or returns to have the interpreter end it."""
