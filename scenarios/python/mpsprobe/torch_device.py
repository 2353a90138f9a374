"""The devices of PyTorch: everything in which mps, cuda and cpu differ for a Python program."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import torch

from . import provenance
from .program import Cell, Unsupported, backend_entry

Tensors = list[Any]
# That lanes honour on every device, beside those of Device.axes.
AXES = ("shape", "shapes", "dtype", "model")
POOL = 32  # streams of PyTorch's pools, handed out in turn: one more thread would share one


def too_many(threads: int) -> Unsupported:
    return Unsupported(
        f"stream=per-thread: LibTorch's pool has {POOL} streams and the cell has {threads} threads. Use "
        f"threads={POOL} or fewer, or stream=default"
    )


class Device:
    """One for the life of a workload. Calls raise what PyTorch raises."""

    name = ""
    axes: tuple[str, ...] = ()
    captures_graphs = False  # path=graph: captured and replayed; else by the layout of the weights

    def open(self, cell: Cell) -> None:
        """Raises Unsupported where it is not what the cell asks for."""

    def touch(self) -> None:
        """First contact: allocates, encodes and waits once."""
        torch.zeros(1, device=self.name)
        self.settle()

    def enter_thread(self, stream: str) -> None:
        """Gives the calling thread its stream. Once per thread, before it launches."""

    def launch(self, calls: Callable[[], Tensors]) -> Tensors:
        return calls()

    def synchronise(self) -> None:
        """Waits for the calling thread's stream."""

    def settle(self) -> None:
        """Waits for all streams. Any thread."""

    def beside(self, what: str) -> None:
        """What one more thread does beside those that launch: other calls than waiting on mps alone."""
        self.settle()

    def upload(self, tensor: Any) -> Any:
        """A copy on the device, complete when the call returns."""
        return tensor.to(self.name)

    def observed_path(self) -> str:
        return "not observed"

    def description(self) -> dict[str, Any]:
        """For provenance. Does not touch the device."""
        return {"backend": self.name, "simulated": False, "device": self.in_words()}

    @staticmethod
    def missing() -> str:
        """Why it cannot run here; empty where it can."""
        return ""

    @classmethod
    def in_words(cls) -> str:
        return ""


class CpuDevice(Device):
    """The reference: calls are complete when they return, and threads have no streams."""

    name = "cpu"

    def open(self, cell: Cell) -> None:
        if cell["stream"] == "per-thread":
            raise Unsupported("stream=per-thread: the CPU has no streams. Use stream=default")

    def touch(self) -> None:
        pass

    def upload(self, tensor: Any) -> Any:
        return tensor.clone()

    @classmethod
    def in_words(cls) -> str:
        return "CPU"


class MpsDevice(Device):
    name = "mps"
    axes = ("stream", "wait", "observe")  # the library that runs the cell loads the observer

    def open(self, cell: Cell) -> None:
        self._wait = cell["wait"]
        self._traces = False  # the profiler: one thread starts and stops it
        per_thread = cell["stream"] == "per-thread"
        has_pool = hasattr(torch.mps, "Stream")
        if per_thread and cell.number("threads") > POOL:
            raise too_many(cell.number("threads"))
        if per_thread and not has_pool:
            raise Unsupported("stream=per-thread: this PyTorch has no torch.mps.Stream. Use stream=default")
        if self._wait == "stream" and not has_pool:
            raise Unsupported("wait=stream: this PyTorch has one stream alone. Use wait=device")
        if self._wait == "event" and per_thread:
            raise Unsupported(
                "wait=event: PyTorch's events for users belong to the default stream, and with "
                "stream=per-thread the work is on others. Use stream=default, or wait=stream"
            )

    def touch(self) -> None:
        if not torch.backends.mps.is_available():
            raise Unsupported(f"backend mps: {self.missing()}")
        super().touch()

    def enter_thread(self, stream: str) -> None:
        if stream == "per-thread":
            torch.mps.set_stream(torch.mps.Stream())

    def synchronise(self) -> None:
        if self._wait == "event":
            event = torch.mps.Event()
            event.record()
            event.synchronize()
        elif self._wait == "stream":
            torch.mps.current_stream().synchronize()
        else:
            self.settle()

    def settle(self) -> None:
        torch.mps.synchronize()

    def beside(self, what: str) -> None:
        if what == "event":
            start, end = torch.mps.Event(enable_timing=True), torch.mps.Event(enable_timing=True)
            start.record()
            end.record()
            start.elapsed_time(end)
        elif what == "cache":
            torch.mps.empty_cache()
        elif what == "statistics":
            torch.mps.current_allocated_memory()
            torch.mps.driver_allocated_memory()
        elif what == "profiler":
            torch.mps.profiler.stop() if self._traces else torch.mps.profiler.start()
            self._traces = not self._traces
        else:
            self.settle()

    @staticmethod
    def missing() -> str:
        return "" if torch.backends.mps.is_available() else "PyTorch finds no MPS device here"

    @classmethod
    def in_words(cls) -> str:
        return provenance.processor_of_mac()


class CudaDevice(Device):
    name = "cuda"
    axes = ("stream", "capture", "wait")
    captures_graphs = True

    def __init__(self) -> None:
        self._in_flight = threading.local()  # graphs that hold what the device executes
        self._ran: set[str] = set()

    def open(self, cell: Cell) -> None:
        self._graph = cell["path"] == "graph"
        self._mode = cell["capture"].replace("-", "_")
        threads = cell.number("threads")
        per_thread = cell["stream"] == "per-thread"
        if per_thread and threads > POOL:
            raise too_many(threads)
        if self._graph and threads > 1 and not per_thread and cell["start"] not in ("sequential", "main"):
            raise Unsupported(
                "path=graph: a stream is captured by one thread at a time. Use stream=per-thread"
            )

    def touch(self) -> None:
        if not torch.cuda.is_available():
            raise Unsupported(f"backend cuda: {self.missing()}")
        super().touch()

    def enter_thread(self, stream: str) -> None:
        # A capture has to be on a stream other than CUDA's default one.
        if stream == "per-thread" or self._graph:
            torch.cuda.set_stream(torch.cuda.Stream())

    def launch(self, calls: Callable[[], Tensors]) -> Tensors:
        if not self._graph:
            self._ran.add("nograph")
            return calls()
        graph = torch.cuda.CUDAGraph()
        graph.capture_begin(capture_error_mode=self._mode)
        try:
            results = calls()
        except BaseException:
            # As `with torch.cuda.graph(...)` leaves a block that raised: the first error counts.
            try:
                graph.capture_end()
            except RuntimeError:
                pass
            raise
        graph.capture_end()
        graph.replay()
        self._ran.add("graph")
        self._in_flight.__dict__.setdefault("graphs", []).append(graph)
        return results

    def synchronise(self) -> None:
        torch.cuda.current_stream().synchronize()
        self._in_flight.__dict__.pop("graphs", None)

    def settle(self) -> None:
        torch.cuda.synchronize()

    def upload(self, tensor: Any) -> Any:
        uploaded = tensor.to(self.name)
        torch.cuda.current_stream().synchronize()
        return uploaded

    def observed_path(self) -> str:
        return next(iter(self._ran)) if len(self._ran) == 1 else "not observed"

    def description(self) -> dict[str, Any]:
        return {
            **super().description(),
            "cuda_runtime": torch.version.cuda or "",
            "cudnn": torch.backends.cudnn.version() or 0,
        }

    @staticmethod
    def missing() -> str:
        if torch.version.cuda is None:
            return "this PyTorch is built without CUDA"
        return "" if torch.cuda.is_available() else "PyTorch finds no CUDA device here"

    @classmethod
    def in_words(cls) -> str:
        return provenance.nvidia_gpus()


DEVICES: dict[str, type[Device]] = {kind.name: kind for kind in (MpsDevice, CudaDevice, CpuDevice)}


def reports() -> list[dict[str, Any]]:
    """All backends as `describe` lists them, available or not. Touches the devices."""
    return [
        backend_entry(name, kind.in_words(), kind.missing(), axes=[*AXES, *kind.axes])
        for name, kind in DEVICES.items()
    ]
