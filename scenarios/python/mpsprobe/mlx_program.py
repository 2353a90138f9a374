"""The backend mlx as a Python program uses it: what mpsprobe-mlx-worker does, by `mlx.core`."""

from __future__ import annotations

import os
import threading

import mlx.core as mx

from . import comparison, frameworks, provenance
from .comparison import FLOAT32_UNIT, KeptBudget, KeptResults, Numbers, Values
from .operation import Operation
from .operations_mlx import OPERATIONS, Arrays, Call
from .program import Cell, Checked, Lane, Program, Unsupported, Workload, backend_entry, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

TF32 = "MLX_ENABLE_TF32"
UNITS = {"f": FLOAT32_UNIT, "e": 2.0**-10, "i": 0.0}


def device_for(use: str) -> Any:
    """On the GPU where this build of MLX has one and finds it, else on the CPU."""
    return mx.cpu if use == "cpu" else mx.default_device().type


def device_name(use: str) -> str:
    if device_for(use) == mx.cpu:
        return "CPU"
    facts = mx.device_info() if hasattr(mx, "device_info") else mx.metal.device_info()
    kind = "Metal" if mx.metal.is_available() else "CUDA"
    tf32 = ", TF32" if has_tf32(mx.gpu) else ""
    return f"{facts.get('device_name', 'GPU')} ({kind}{tf32})"


def has_tf32(device: Any) -> bool:
    """Whether the products of float32 may be of TF32, which has 10 bits."""
    return bool(device == mx.gpu and os.environ.get(TF32, "1") != "0")


def to_arrays(numbers: list[Values]) -> Arrays:
    """New arrays of these numbers, which hold them already: no stream takes part."""
    return [mx.array(memoryview(each.data).cast("f", each.sizes)) for each in numbers]


def read_back(array: Any) -> Values:
    """Of an array that has been computed."""
    view = memoryview(array)
    return Values(tuple(view.shape or ()), view.format, view.tobytes())


def on_another_thread(work: Callable[[], None]) -> None:
    """On a thread that has ended when this returns; what it raises is raised here."""
    problems: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as problem:
            problems.append(problem)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if problems:
        raise problems[0]


class Once:
    """Makes something by the thread that asks first, while the others wait."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: list[Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        with self._lock:
            if self._made is None:
                self._made = [self._make(*arguments)]
        return self._made[0]


@record
class Belongings:
    """What a thread computes with: its stream, inputs and weights, made by whom the cell says."""

    stream: Any
    inputs: Arrays
    parameters: Arrays


class MlxWorkload(Workload):
    def __init__(self, operation: Operation, cell: Cell, seed: int) -> None:
        check_axes(operation, cell)
        self.operation = operation
        self.sizes = operation.sizes_of(cell["shape"])
        self.device = device_for(cell["device"])
        self.owner = cell["owner"]
        self.leave = cell["leave"]
        self.kept_budget = KeptBudget()
        self._stream = cell["stream"]
        self._waits_beside = cell["beside"] == "wait"
        self._own_model = cell["model"] == "per-thread"
        fresh = cell["lifetime"] == "fresh"
        self._launches = 1 if fresh else cell.number("iterations") * cell.number("churn")
        self._shown: Arrays = []
        self._shown_lock = threading.Lock()
        self._drawn: dict[bytes, int] = {}
        # Numbers are made here, on the CPU and without MLX: they are no part of what is tested.
        threads = range(cell.number("threads"))
        self._inputs = [self._numbers(operation.inputs, seed, 2 + 2 * k) for k in threads]
        self._parameters = (
            [self._numbers(operation.parameters, seed, 1 + 2 * k) for k in threads]
            if self._own_model
            else [self._numbers(operation.parameters, seed, 0)]
        )
        self._shared_parameters = Once(lambda: to_arrays(self._parameters[0]))
        self.shared_arrays = Once(self._make_shared_arrays)
        self._compiled = Once(self._compile)

    def _numbers(self, make: Any, seed: int, stream: int) -> list[Values]:
        return make(Numbers(seed, stream), self.sizes) if make else []

    def numbers_of_parameters(self, thread: int) -> list[Values]:
        return self._parameters[thread if self._own_model else 0]

    def numbers_of_inputs(self, thread: int) -> list[Values]:
        return self._inputs[thread]

    def touch_device(self) -> None:
        mx.eval(mx.add(mx.array(1.0), mx.array(1.0), stream=self.device))

    def make_lane(self, thread: int) -> Lane:
        return MlxLane(self, thread)

    def _new_stream(self) -> Any:
        if self._stream == "per-thread":
            return mx.new_stream(self.device)
        if self._stream == "thread-unsafe":
            return mx.new_thread_unsafe_stream(self.device)
        return mx.default_stream(self.device)

    def make_belongings(self, thread: int) -> Belongings:
        """New: called by whom the cell says."""
        stream = self._new_stream()
        inputs = to_arrays(self._inputs[thread])
        own = self._own_model
        return Belongings(
            stream, inputs, to_arrays(self._parameters[thread]) if own else self._shared_parameters()
        )

    def _make_shared_arrays(self) -> list[Arrays]:
        own = self.make_belongings(0)
        return [
            self.operation.run(Call(self.sizes, own.inputs, own.parameters, own.stream))
            for _launch in range(self._launches)
        ]

    def _compile(self, count: int) -> Callable[[Arrays], Arrays]:
        def function(given: Arrays) -> Arrays:
            stream = mx.default_stream(self.device)
            return self.operation.run(Call(self.sizes, given[:count], given[count:], stream))

        compiled: Callable[[Arrays], Arrays] = mx.compile(function)
        return compiled

    def run_compiled(self, own: Belongings) -> Arrays:
        """The operation, compiled once for all threads."""
        result: Arrays = self._compiled(len(own.inputs))([*own.inputs, *own.parameters])
        return result

    def show(self, results: Arrays) -> None:
        """What a lane has given to async_eval, for the thread that waits beside."""
        if self._waits_beside:
            with self._shown_lock:
                self._shown = results

    def wait_beside(self) -> None:
        with self._shown_lock:
            arrays = self._shown
        mx.eval(arrays)

    def first_with(self, thread: int, numbers: bytes) -> int:
        """The first thread that came with these numbers. Main thread alone."""
        return self._drawn.setdefault(numbers, thread)


class MlxLane(Lane):
    """Results are read back by the thread that asked for them, as a program does, and compared after all
    threads have ended."""

    def __init__(self, workload: MlxWorkload, thread: int) -> None:
        self._workload = workload
        self._thread = thread
        self._own: Belongings | None = None
        self._pending: list[tuple[int, Arrays]] = []  # results that were not waited for
        self._never_waited_for = 0
        self._kept = KeptResults(workload.kept_budget)
        if workload.owner == "main":
            self._make()
        elif workload.owner == "other":
            on_another_thread(self._make)

    def _make(self) -> None:
        self._own = self._workload.make_belongings(self._thread)
        if self._workload.operation.evaluation == "shared":
            self._workload.shared_arrays()

    def operation(self) -> str:
        return self._workload.operation.name_in(self._thread)

    def enter(self) -> None:
        # Before the start: all threads evaluate what one of them has made.
        if self._workload.operation.evaluation == "shared":
            self._workload.shared_arrays()

    def launch(self, iteration: int) -> None:
        # After the start, as a thread of a program does: it makes its stream while others compute.
        if self._own is None:
            self._own = self._workload.make_belongings(self._thread)
        results = self._run(self._own, iteration)
        if self._workload.operation.evaluation == "async":
            mx.async_eval(results)
            self._workload.show(results)
            self._pending.append((iteration, results))
            return
        mx.eval(results)
        self._keep(iteration, results)

    def _run(self, own: Belongings, iteration: int) -> Arrays:
        workload = self._workload
        evaluation = workload.operation.evaluation
        if evaluation == "shared":
            arrays: Arrays = workload.shared_arrays()[iteration]
            return arrays
        if evaluation == "compiled":
            return workload.run_compiled(own)
        if evaluation == "released":
            return self._run_released(own)
        return workload.operation.run(
            Call(workload.sizes, own.inputs, own.parameters, own.stream, self._thread)
        )

    def _run_released(self, own: Belongings) -> Arrays:
        """A function that gives other numbers is compiled, called, and released by a thread that has
        never traced it; then the one whose result counts. Both have inputs of the same shapes."""

        def compiled(more: float) -> Any:
            def function(given: Arrays) -> Arrays:
                call = Call(self._workload.sizes, given[:1], given[1:], own.stream, self._thread)
                results = self._workload.operation.run(call)
                return [mx.add(results[0], mx.array(more), stream=own.stream)]

            return mx.compile(function)

        given = [own.inputs[0], own.parameters[0]]
        others = [compiled(1000.0)]
        mx.eval(others[0](given))
        on_another_thread(others.clear)
        result: Arrays = compiled(0.0)(given)
        return result

    def synchronise(self) -> None:
        if self._own is None:
            return
        mx.synchronize(self._own.stream)
        for iteration, results in self._pending:
            mx.eval(results)  # returns at once: the stream has been waited for
            self._keep(iteration, results)
        self._pending.clear()

    def leave(self) -> None:
        self._never_waited_for += len(self._pending)
        self._pending.clear()
        if self._workload.owner == "thread":
            self._own = None
        if self._workload.leave == "clear-streams":
            frameworks.clear_streams()

    def _keep(self, iteration: int, results: Arrays) -> None:
        numbers = [read_back(each) for each in results]
        self._kept.add(iteration, numbers, sum(len(each.data) for each in numbers))

    def check(self) -> Checked:
        result = Checked(unchecked=self._kept.dropped + self._never_waited_for)
        if not self._kept.all:
            return result
        expected = self._alone()
        for iteration, results in self._kept.all:
            result.checked += 1
            difference = self._difference_in(results, expected)
            if difference and result.wrong_iteration < 0:
                result.wrong_iteration = iteration
                result.difference = difference
        return result

    def _alone(self) -> list[Values]:
        """The same operation once more: on the CPU, by one thread, on its own stream. Lazy arrays that
        all threads evaluate are of the first one's numbers."""
        workload = self._workload
        thread = 0 if workload.operation.evaluation == "shared" else self._thread
        arrays = workload.operation.run(
            Call(
                workload.sizes,
                to_arrays(workload.numbers_of_inputs(thread)),
                to_arrays(workload.numbers_of_parameters(thread)),
                mx.default_stream(mx.cpu),
                self._thread,
            )
        )
        mx.eval(arrays)
        return [read_back(each) for each in arrays]

    def _unit(self, values: Values) -> float:
        if values.format == "f" and self._workload.operation.rounding == "accumulated":
            return 2.0**-10 if has_tf32(self._workload.device) else FLOAT32_UNIT
        return UNITS[values.format]

    def _difference_in(self, results: list[Values], expected: list[Values]) -> str:
        operation = self._workload.operation
        if operation.verify == "unlike":
            other = self._workload.first_with(self._thread, self._kept.all[0][1][0].data)
            if other != self._thread:
                return f"the very numbers that thread {other} drew"
        terms = operation.terms(self._workload.sizes)
        for i, (got, right) in enumerate(zip(results, expected)):
            last = i + 1 == len(results)
            found = ""
            if got.sizes != right.sizes:
                found = f"sizes {list(got.sizes)} instead of {list(right.sizes)}"
            elif operation.verify in ("normal", "unlike") or (operation.verify == "raw" and not last):
                found = comparison.difference_from_normal(got)
            else:
                if operation.verify == "raw":
                    right = comparison.positive_product(results[0], results[1])
                found = comparison.difference(got, right, operation.rounding, self._unit(got), terms)
            if found:
                return found if len(results) == 1 else f"result {i + 1}: {found}"
        return ""


def check_axes(operation: Operation, cell: Cell) -> None:
    """Raises Unsupported for what the axes ask of this operation and release in vain."""
    name, evaluation = operation.name, operation.evaluation
    default_stream = cell["stream"] == "default"
    refused = (
        (
            cell["path"] != "default",
            f"path={cell['path']}: paths are LibTorch's. Leave path at its default",
        ),
        (
            cell["dtype"] not in ("default", "float32"),
            f"dtype={cell['dtype']}: the backend mlx has float32 alone. Leave dtype out",
        ),
        (
            cell["stream"] == "thread-unsafe" and not hasattr(mx, "new_thread_unsafe_stream"),
            "stream=thread-unsafe: MLX has new_thread_unsafe_stream since 0.32.0",
        ),
        (
            cell["leave"] == "clear-streams" and not hasattr(mx, "clear_streams"),
            "leave=clear-streams: this release of MLX has no clear_streams",
        ),
        (
            evaluation == "compiled" and not default_stream,
            "stream other than default: a compiled function keeps the stream of the call that traced it, "
            "so that all threads use that one. Use stream=default",
        ),
        (
            evaluation == "shared" and not default_stream,
            f"stream other than default: the arrays of {name} are one thread's, with one stream. "
            "Use stream=default",
        ),
        (
            cell["beside"] == "wait" and evaluation != "async",
            f"beside=wait: {name} waits by itself, so that no other thread can. Use op=async_eval",
        ),
        (
            cell["sync"] == "never" and evaluation != "async",
            f"sync=never: {name} waits by itself. Use op=async_eval",
        ),
    )
    for wrong, why in refused:
        if wrong:
            raise Unsupported(why)


class MlxProgram(Program):
    waits_beside = True

    def begin(self) -> None:
        # The tolerances are those of float32.
        os.environ.setdefault(TF32, "0")

    def describe(self) -> dict[str, Any]:
        axes = ["shape", "dtype", "stream", "model", "owner", "device", "leave"]
        return {
            "operations": [
                {**operation.describe(), "paths": ["default"], "backends": ["mlx"]}
                for operation in OPERATIONS.values()
            ],
            "backends": [backend_entry("mlx", device_name("default"), axes=axes)],
            "provenance": self._provenance(),
        }

    def provenance(self, cell: Cell) -> dict[str, Any]:
        self._require_mlx(cell)
        return {
            **self._provenance(),
            "device": {
                "backend": "mlx",
                "simulated": False,
                "device": device_name(cell.get("device", "default")),
            },
        }

    def make_workload(self, cell: Cell, seed: int) -> Workload:
        self._require_mlx(cell)
        operation = OPERATIONS.get(cell["op"])
        if operation is None:
            raise Unsupported(
                f"op={cell['op']}: the backend mlx has no such operation. It has {', '.join(OPERATIONS)}"
            )
        return MlxWorkload(operation, cell, seed)

    def _require_mlx(self, cell: Cell) -> None:
        if cell["backend"] != "mlx":
            raise Unsupported(
                f"backend {cell['backend']}: this worker has mlx alone. Set "
                "MPSPROBE_PYTHON_FRAMEWORK=torch for those of PyTorch"
            )

    def _provenance(self) -> dict[str, Any]:
        library = {"version": mx.__version__, **provenance.image_of("libmlx")}
        return {"mlx": library, "python": provenance.interpreter(mx.__file__)}
