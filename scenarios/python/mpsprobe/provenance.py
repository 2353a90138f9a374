"""What proves which build was under test: the interpreter, and the images that it loaded."""

from __future__ import annotations

import ctypes
import json
import os
import platform
import sys
import sysconfig
from pathlib import Path
from typing import Any, NoReturn

from ._runtime import library


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
    return {
        "implementation": sys.implementation.name,
        "version": platform.python_version(),
        "build": " ".join(platform.python_build()),
        "compiler": platform.python_compiler(),
        "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        "gil": bool(enabled()),
        "executable": os.path.abspath(sys.executable),  # a link, where it is an environment's
        "binding": image_of(os.path.basename(binding)) if binding else {},
    }


def leave(status: int) -> NoReturn:
    """Ends a forked process without taking apart what was loaded before the fork."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
