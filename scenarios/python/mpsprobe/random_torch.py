"""Seeded input tensors, on the CPU whatever is tested: those of mpsprobe-worker on the same release."""

from __future__ import annotations

from typing import Any

import torch

_64 = (1 << 64) - 1


def _mix(seed: int, stream: int) -> int:
    """One step of splitmix64 (Steele, Lea, Flood 2014): neighbours get unrelated generators."""
    z = (seed + (stream + 1) * 0x9E3779B97F4A7C15) & _64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _64
    return z ^ (z >> 31)


class Random:
    """`stream` separates the consumers of one seed. Used by one thread at a time."""

    def __init__(self, seed: int, stream: int) -> None:
        self._generator = torch.Generator(device="cpu").manual_seed(_mix(seed, stream))

    def normal(self, *sizes: int) -> Any:
        return torch.empty(sizes, dtype=torch.float32).normal_(0, 1, generator=self._generator)

    def uniform(self, low: float, high: float, *sizes: int) -> Any:
        return torch.empty(sizes, dtype=torch.float32).uniform_(low, high, generator=self._generator)
