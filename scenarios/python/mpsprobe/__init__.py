"""The Python half of mpsprobe: a worker for what Python programs call.

`program` has what a worker is made of, `worker` is the program that the runner starts.
"""

from .program import (
    Cell,
    Checked,
    Failure,
    GpuError,
    Lane,
    OutOfMemory,
    Program,
    SetupFailed,
    Unsupported,
    Workload,
)

__all__ = [
    "Cell",
    "Checked",
    "Failure",
    "GpuError",
    "Lane",
    "OutOfMemory",
    "Program",
    "SetupFailed",
    "Unsupported",
    "Workload",
]
