"""PyTorch's backends mps, cuda and cpu as a Python program uses them: what mpsprobe-worker does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import torch

from . import comparison, provenance
from .comparison import KeptBudget, KeptResults, Sizes, Values
from .operation import Operation
from .operations_torch import OPERATIONS, Call, Tensors
from .program import Cell, Checked, Failure, GpuError, Lane, OutOfMemory, Program, Unsupported, Workload
from .random_torch import Random
from .torch_device import DEVICES, Device, reports

UNITS = {
    torch.float64: 2.0**-52,
    torch.float32: comparison.FLOAT32_UNIT,
    torch.float16: 2.0**-10,
    torch.bfloat16: 2.0**-7,
}
MOST_READ_BACK = 4096  # of one thread: beyond, numbers are read and not compared
# CUDA's errors of work that the device had accepted: they come with a later call, whichever it is.
# Every other code says that a call was refused (cudaError_t).
DEVICE_ERRORS = (214, 220, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721)


class worker_errors(AbstractContextManager[None]):
    """What PyTorch raises becomes what it means to a worker."""

    def __exit__(self, _kind: Any, problem: BaseException | None, _where: Any) -> None:
        if problem is None or isinstance(problem, Failure):
            return
        text = str(problem)
        if isinstance(problem, torch.OutOfMemoryError) or "MPS backend out of memory" in text:
            raise OutOfMemory(text) from problem
        if isinstance(problem, torch.AcceleratorError):
            # MPS has no codes: what it reports in this way was reported by the GPU.
            if not text.startswith("CUDA error") or problem.error_code in DEVICE_ERRORS:
                raise GpuError(text) from problem
        if "MPS backend is supported on" in text or "not linked with support for mps" in text:
            raise Unsupported(text) from problem


def to_type(tensor: Any, dtype: Any) -> Any:
    """For an integer type scaled by 8 first, so that samples become different small integers."""
    return tensor.to(dtype) if dtype.is_floating_point else tensor.mul(8).round().to(dtype)


def widened(tensors: Tensors) -> Tensors:
    return [each.to(reference_type(each.dtype)) for each in tensors]


def reference_type(dtype: Any) -> Any:
    return torch.float64 if dtype.is_floating_point else dtype


def values(tensor: Any, wide: Any) -> Values:
    contiguous = tensor.detach().to(wide).contiguous()
    size = contiguous.numel() * contiguous.element_size()
    data = provenance.bytes_at(contiguous.data_ptr(), size)
    return Values(tuple(tensor.shape), "d" if wide == torch.float64 else "q", data)


def difference(got: Any, expected: Any, rounding: str, terms: int) -> str:
    if got.shape != expected.shape:
        return f"expected shape {list(expected.shape)}, got {list(got.shape)}"
    floating = got.is_floating_point() or expected.is_floating_point()
    wide = torch.float64 if floating else torch.int64
    unit = UNITS.get(got.dtype, 0.0)
    return comparison.difference(values(got, wide), values(expected, wide), rounding, unit, terms)


def difference_of_layout(got: Any, shape: Any, dtype: Any) -> str:
    if got.shape != shape:
        return f"expected shape {list(shape)}, got {list(got.shape)}"
    if got.dtype != dtype:
        return f"expected type {name_of(dtype)}, got {name_of(got.dtype)}"
    return ""


def name_of(dtype: Any) -> str:
    return str(dtype).partition(".")[2]


def read_dtype(operation: Operation, asked: str) -> Any:
    name = operation.dtypes[0] if asked == "default" else asked
    if name not in operation.dtypes:
        raise Unsupported(
            f"dtype={asked}: operation {operation.name} does not run with it. Possible are "
            + ", ".join(operation.dtypes)
        )
    return getattr(torch, name)


class TorchWorkload(Workload):
    def __init__(self, operation: Operation, cell: Cell, seed: int, device: Device) -> None:
        self.operation = operation
        self.device = device
        self.seed = seed
        self.sizes = operation.sizes_of(cell["shape"])
        self.dtype = read_dtype(operation, cell["dtype"])
        self.stream = cell["stream"]
        self.wait = cell["wait"]
        self.sync = cell["sync"]
        self._beside = cell["beside"]
        self.kept_budget = KeptBudget()
        self._path = cell["path"]
        self._same_shapes = cell["shapes"] == "same"
        self._own_model = cell["model"] == "per-thread"
        self._lock = threading.Lock()
        self._shared: tuple[Tensors, Tensors] | None = None
        self._check_axes(cell)

    def _check_axes(self, cell: Cell) -> None:
        name = self.operation.name
        if cell["meet"] == "stage":
            raise Unsupported("meet=stage: a Python worker has no stages to meet between. Use meet=launch")
        if not self.device.captures_graphs and self._path != "default" and not self.operation.ends_in_linear:
            raise Unsupported(
                f"path={self._path}: only operations that end in aten::linear choose between graph and "
                f"nograph, and {name} does not. Use path=default"
            )

    @property
    def captures(self) -> bool:
        """Every launch is captured into a graph of its own and replayed."""
        return self._path == "graph" and self.device.captures_graphs

    def touch_device(self) -> None:
        with worker_errors():
            self.device.touch()

    def make_lane(self, thread: int) -> Lane:
        with worker_errors():
            return TorchLane(self, thread)

    def settle(self) -> None:
        with worker_errors():
            self.device.settle()

    def wait_beside(self) -> None:
        with worker_errors():
            self.device.beside(self._beside)

    def observed_path(self) -> str:
        return self.device.observed_path()

    def sizes_for(self, thread: int) -> Sizes:
        if self._same_shapes:
            return self.sizes
        # The first is the batch or the sequence: no weight depends on it, unless it is the only one.
        if len(self.sizes) == 1 and self.operation.parameters is not None:
            raise Unsupported(
                "shapes=per-thread: with a single size, threads that share weights share it. Use a "
                "shape of more dimensions"
            )
        return (self.sizes[0] + 7 * thread, *self.sizes[1:])

    def parameters_for(self, thread: int) -> tuple[Tensors, Tensors]:
        """As the CPU has them and as the device got them. Shared ones are made by whoever comes first."""
        if self._own_model:
            return self._make_parameters(1 + 2 * thread)
        with self._lock:
            if self._shared is None:
                self._shared = self._make_parameters(0)
            return self._shared

    def _make_parameters(self, stream: int) -> tuple[Tensors, Tensors]:
        if self.operation.parameters is None:
            return [], []
        with torch.no_grad():
            made = self.operation.parameters(Random(self.seed, stream), self.sizes)
            on_cpu = [to_type(each, self.dtype) for each in made]
        on_device = []
        for each in on_cpu:
            if self._path == "graph" and not self.device.captures_graphs and each.dim() == 2:
                # The same numbers in the other order of dimensions: a weight that is not contiguous is
                # what makes PyTorch take MPSGraph for linear.
                uploaded = self.device.upload(each.t().contiguous()).t()
            else:
                uploaded = self.device.upload(each)
            on_device.append(
                uploaded.detach().requires_grad_() if self.operation.records_gradient else uploaded
            )
        return on_cpu, on_device


class TorchLane(Lane):
    def __init__(self, workload: TorchWorkload, thread: int) -> None:
        self._workload = workload
        self._thread = thread
        self._sizes = workload.sizes_for(thread)
        self._kept = KeptResults(workload.kept_budget)
        self._last: tuple[int, Any] = (-1, None)
        self._read_back: list[tuple[int, Any]] = []
        self._cpu_inputs = self._make_inputs()
        self._inputs = [workload.device.upload(each) for each in self._cpu_inputs]
        self._cpu_parameters, self._parameters = workload.parameters_for(thread)

    def _make_inputs(self) -> Tensors:
        workload = self._workload
        if workload.operation.inputs is None:
            return []
        with torch.no_grad():
            made = workload.operation.inputs(Random(workload.seed, 2 + 2 * self._thread), self._sizes)
            return [to_type(each, workload.dtype) for each in made]

    def operation(self) -> str:
        return self._workload.operation.name_in(self._thread)

    def enter(self) -> None:
        # Per thread, since OpenMP's setting is: without it a launch on the CPU starts a team of threads.
        torch.set_num_threads(1)
        with worker_errors():
            self._workload.device.enter_thread(self._workload.stream)
            if self._workload.captures:
                # What is to be captured must have run before, on the same stream.
                self._run()
                self._workload.device.synchronise()

    def launch(self, iteration: int) -> None:
        with worker_errors():
            results = self._workload.device.launch(self._run)
            # Only the numbers are kept: the recorded graph goes where a script would drop it.
            results = [each.detach() for each in results]
            self._last = (iteration, results[-1] if results else None)
            self._kept.add(iteration, results, sum(each.nbytes for each in results))

    def synchronise(self) -> None:
        iteration, last = self._last
        with worker_errors():
            if self._workload.wait == "item" and last is not None and last.numel() > 0:
                number = last.flatten()[0].item()
                if len(self._read_back) < MOST_READ_BACK:
                    self._read_back.append((iteration, number))
            else:
                self._workload.device.synchronise()

    def check(self) -> Checked:
        with worker_errors(), torch.no_grad():
            return self._check()

    def _check(self) -> Checked:
        result = Checked(unchecked=self._kept.dropped)
        if self._workload.sync == "never":
            # The thread has ended and waited for nothing: its results may not be there yet.
            self._workload.device.settle()
        if not self._kept.all:
            return result
        expected = self._reference()
        checks: list[tuple[int, Callable[[], str]]] = []
        for iteration, results in self._kept.all:
            result.checked += 1
            checks.append((iteration, partial(self._difference_in, results, expected)))
        if self._workload.operation.verify == "compare":
            checks += [
                (i, partial(self._difference_of_number, number, expected[-1]))
                for i, number in self._read_back
            ]
        for iteration, check in checks:
            found = check()
            if found:
                result.wrong_iteration, result.difference = iteration, found
                break
        return result

    def _difference_of_number(self, number: Any, expected: Any) -> str:
        """A number may have come too early, from memory that is right by now."""
        dtype = self._last[1].dtype
        found = difference(
            torch.tensor(number, dtype=dtype), expected.flatten()[0], *self._rounding_and_terms()
        )
        return f"read back: {found}" if found else ""

    def _rounding_and_terms(self) -> tuple[str, int]:
        operation = self._workload.operation
        return operation.rounding, operation.terms(self._sizes)

    def _run(self) -> Tensors:
        options = {"device": self._workload.device.name, "dtype": self._workload.dtype}
        return self._workload.operation.run(
            Call(self._sizes, self._inputs, self._parameters, options, self._thread)
        )

    def _reference(self) -> Tensors:
        options = {"device": "cpu", "dtype": reference_type(self._workload.dtype)}
        inputs, parameters = widened(self._cpu_inputs), widened(self._cpu_parameters)
        return self._workload.operation.run(Call(self._sizes, inputs, parameters, options, self._thread))

    def _difference_in(self, results: Tensors, expected: Tensors) -> str:
        verify = self._workload.operation.verify
        on_cpu = [each.to("cpu") for each in results]
        for i, (got, right) in enumerate(zip(on_cpu, expected)):
            sample = verify == "normal" or (verify == "raw" and i + 1 < len(results))
            if sample:
                found = difference_of_layout(got, right.shape, self._workload.dtype)
                if not found:
                    found = comparison.difference_from_normal(values(got, torch.float64))
            else:
                if verify == "raw":
                    # Its inputs were random: the product of the very samples is the reference.
                    a, b = widened(on_cpu[:2])
                    right = torch.relu(torch.mm(a, b))
                found = difference(got, right, *self._rounding_and_terms())
            if found:
                return found if len(results) == 1 else f"result {i + 1}: {found}"
        return ""


class TorchProgram(Program):
    waits_beside = True

    def begin(self) -> None:
        torch.set_num_threads(1)

    def describe(self) -> dict[str, Any]:
        backends = reports()
        return {
            "operations": [self._describe(operation) for operation in OPERATIONS.values()],
            "backends": backends,
            "provenance": self._provenance(),
        }

    def _describe(self, operation: Operation) -> dict[str, Any]:
        more = ["nograph", "graph"] if operation.ends_in_linear else []
        return {
            **operation.describe(),
            "paths": ["default", *more],
            "capturable": True,
            "backends": [],
        }

    def provenance(self, cell: Cell) -> dict[str, Any]:
        return {**self._provenance(), "device": self._device(cell).description()}

    def make_workload(self, cell: Cell, seed: int) -> Workload:
        operation = OPERATIONS.get(cell["op"])
        if operation is None:
            raise Unsupported(
                f"op={cell['op']}: this worker has no such operation. It has {', '.join(OPERATIONS)}"
            )
        device = self._device(cell)
        device.open(cell)
        return TorchWorkload(operation, cell, seed, device)

    def _device(self, cell: Cell) -> Device:
        kind = DEVICES.get(cell["backend"])
        if kind is None:
            raise Unsupported(f"backend {cell['backend']}: this worker has {', '.join(DEVICES)}")
        return kind()

    def _provenance(self) -> dict[str, Any]:
        library = {
            "version": torch.__version__,
            "git_hash": torch.version.git_version or "",
            "cuda": torch.version.cuda or "",
            "build": torch.__config__.show(),
            "has_mps_stream_pool": hasattr(torch.mps, "Stream"),
            **provenance.image_of("libtorch_cpu"),
        }
        return {"torch": library, "python": provenance.interpreter(torch._C.__file__)}

    def end(self, forked: bool, status: int) -> None:
        """A forked trial leaves what was loaded before the fork as it is: taking it apart costs more than
        the trial, and is no part of it."""
        if forked:
            provenance.leave(status)
