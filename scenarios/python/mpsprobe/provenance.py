"""What proves which build was under test: the interpreter, and the images that it loaded."""

from __future__ import annotations

import ctypes
import json
import os
import sys

from ._runtime import library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, NoReturn


def bytes_at(address: int, size: int) -> bytes:
    return ctypes.string_at(address, size) if size else b""


def image_of(name: str) -> dict[str, Any]:
    """Of the loaded library whose file is called so: path, build_id, uuid, fingerprint. Empty where none
    is."""
    text = ctypes.create_string_buffer(8192)
    library().mpsprobe_loaded_image(name.encode(), text, len(text))
    found: dict[str, Any] = json.loads(text.value or b"{}")
    return found


def processor_of_mac() -> str:
    """ "Apple M4 Max"; empty elsewhere."""
    if sys.platform != "darwin":
        return ""
    text = ctypes.create_string_buffer(256)
    size = ctypes.c_size_t(len(text))
    libc = ctypes.CDLL(None)
    if libc.sysctlbyname(b"machdep.cpu.brand_string", text, ctypes.byref(size), None, 0) != 0:
        return ""
    return text.value.decode("utf-8", "replace")


def nvidia_gpus() -> str:
    """As the driver names them, without making a context; empty where there is none."""
    from pathlib import Path  # which takes a while to load, as platform and sysconfig do

    names = []
    for path in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")):
        for line in path.read_text(errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key == "Model":
                names.append(value.strip())
    return ", ".join(names)


def interpreter(binding: str | None) -> dict[str, Any]:
    """The interpreter, and the file that binds the library to it."""
    enabled = getattr(sys, "_is_gil_enabled", lambda: True)
    version, _, rest = sys.version.partition(" ")
    build, _, compiler = rest.partition("(")[2].partition(")")
    return {
        "implementation": sys.implementation.name,
        "version": version,
        "build": " ".join(part.strip() for part in build.split(",")),
        "compiler": compiler.strip(" []\n"),
        "free_threaded": "t" in getattr(sys, "abiflags", ""),
        "gil": bool(enabled()),
        "executable": os.path.abspath(sys.executable),  # a link, where it is an environment's
        "binding": image_of(os.path.basename(binding)) if binding else {},
    }


# What the interpreter loads by itself, as files in site-packages ask of it.
_AT_START = frozenset(name.partition(".")[0] for name in list(sys.modules))


def packages() -> dict[str, str]:
    """Versions, by name, of what pip installed and a module comes from that was loaded since the start."""
    from importlib import metadata  # which takes a while to load, and to look through an environment

    modules = {name.partition(".")[0] for name in list(sys.modules)} - _AT_START
    found = getattr(metadata, "packages_distributions", dict)()  # since Python 3.10
    versions: dict[str, str] = {}
    for module in modules & found.keys():
        for name in found[module]:
            installed = metadata.distribution(name)
            # A folder of somebody's own may be called as one of a package is: "tests".
            if lies_below(sys.modules.get(module), str(installed.locate_file(""))):
                versions[name] = installed.version
    return dict(sorted(versions.items()))


def lies_below(module: ModuleType | None, folder: str) -> bool:
    """Whether its file, or the folder that it is, does."""
    spec = getattr(module, "__spec__", None)
    places = [] if spec is None else [spec.origin or "", *(spec.submodule_search_locations or [])]
    return any(place.startswith(os.path.join(folder, "")) for place in places)


def leave(status: int) -> NoReturn:
    """Ends a forked process without taking apart what was loaded before the fork."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
