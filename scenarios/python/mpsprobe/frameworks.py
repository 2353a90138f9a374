"""What somebody's code has loaded: which framework, on which device, how to wait for it.

Nothing is imported here that the code has not imported by itself.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping, Sequence

from . import provenance
from .program import Unsupported, backend_entry, own_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def loaded(name: str) -> Any:
    return sys.modules.get(name)


def torch_device() -> str:
    """`mps` or `cuda` where torch has one that can be used, else `cpu`; empty without torch."""
    torch = loaded("torch")
    if torch is None:
        return ""
    if torch.backends.mps.is_available():
        return "mps"
    return "cuda" if torch.cuda.is_available() else "cpu"


def backends() -> list[str]:
    """Where the code may compute, the one that it means first."""
    found = ["mlx"] if loaded("mlx.core") else []
    device = torch_device()
    if device:
        found += [device] if device == "cpu" else [device, "cpu"]
    return found or ["cpu"]


def device_name(backend: str) -> str:
    if backend == "mlx":
        mx = loaded("mlx.core")
        if mx is None or mx.default_device().type == mx.cpu:
            return "CPU"
        facts = mx.device_info() if hasattr(mx, "device_info") else mx.metal.device_info()
        return f"{facts.get('device_name', 'GPU')} ({'Metal' if mx.metal.is_available() else 'CUDA'})"
    if backend == "cuda":
        return provenance.nvidia_gpus() or "CUDA"
    if backend == "mps":
        return provenance.processor_of_mac() or "MPS"
    return "CPU"


def device_of(backend: str) -> dict[str, Any]:
    return {"backend": backend, "simulated": False, "device": device_name(backend)}


# What lanes of own code read of a cell, by backend.
AXES = {"mlx": ["leave"], "mps": ["observe"]}


def leaving(cell: Any) -> bool:
    """Whether threads clear their streams when they end. Raises Unsupported where nothing can."""
    if cell["leave"] != "clear-streams":
        return False
    if not hasattr(loaded("mlx.core"), "clear_streams"):
        raise Unsupported("leave=clear-streams: this release of MLX has no clear_streams")
    return True


def clear_streams() -> None:
    """At a thread's end. The main thread, which warms up and compares, does not end here."""
    if threading.current_thread() is not threading.main_thread():
        loaded("mlx.core").clear_streams()


def description(
    operations: list[tuple[str, str, str]], kind: str, of_provenance: dict[str, Any]
) -> dict[str, Any]:
    """The answer to `describe` for operations that are somebody's own: names, what each is in words,
    and FILE::NAME, of this kind: function or test."""
    return {
        "axes": [],
        "operations": [
            own_row(name, summary, "your own code", **{f"own_{kind}": code})
            for name, summary, code in operations
        ],
        "backends": [backend_entry(name, device_name(name), axes=AXES.get(name, [])) for name in backends()],
        "provenance": {**of_provenance, "python": {**of_provenance["python"], "packages": provenance.packages()}},
    }


def provenance_of_loaded() -> dict[str, Any]:
    """The framework's library, which proves the build, and the interpreter."""
    found: dict[str, Any] = {}
    mx, torch = loaded("mlx.core"), loaded("torch")
    binding = ""
    if mx is not None:
        found["mlx"] = {"version": mx.__version__, **provenance.image_of("libmlx")}
        binding = mx.__file__
    elif torch is not None:
        version = {"version": torch.__version__, "git_hash": torch.version.git_version}
        found["torch"] = {**version, **provenance.image_of("libtorch_cpu")}
        binding = torch._C.__file__
    return {**found, "python": provenance.interpreter(binding)}


def compute(result: Any) -> None:
    """Has lazy arrays computed: part of a call that returns some, as whoever uses them would wait."""
    mx = loaded("mlx.core")
    try:
        arrays = list(_of_type(result, mx.array)) if mx is not None else []
    except RecursionError:  # a list within itself, which is not compared either
        return
    if arrays:
        mx.eval(arrays)


def wait_for_device() -> None:
    """Until it has done what was queued."""
    torch = loaded("torch")
    if torch is None:
        return
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.synchronize()
    elif torch.backends.mps.is_available():
        torch.mps.synchronize()


def _of_type(value: Any, kind: type) -> Any:
    if isinstance(value, kind):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _of_type(each, kind)
    elif isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        for each in value:
            yield from _of_type(each, kind)


def seed_generators(seed: int) -> None:
    """Those that the code may draw from: the same numbers in each trial."""
    import random  # which no trial of MLX's operations needs

    random.seed(seed)
    if (numpy := loaded("numpy")) is not None:
        numpy.random.seed(seed % 2**32)
    if (torch := loaded("torch")) is not None:
        torch.manual_seed(seed)
    if (mx := loaded("mlx.core")) is not None:
        mx.random.seed(seed)


def end(forked: bool, status: int) -> None:
    """A forked process leaves what was loaded before the fork as it is."""
    if forked:
        provenance.leave(status)
