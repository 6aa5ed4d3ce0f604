"""A device whose copies take as long as they may, and that notices every reader and writer that comes too early."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from engine.placement.device import Copies


@dataclass
class _Pending:
    target: Tensor
    source: Tensor


class LateCopies(Copies):
    """Copies land when they are waited for and not before; a buffer is garbage from the moment a copy may begin.

    Attributes:
        started: Copies that were begun.
        landed: Those of them that were waited for.
    """

    def __init__(self) -> None:
        super().__init__(torch.device("cpu"))
        self.started = self.landed = 0
        self._now = 0
        # When each buffer was handed out to compute from last, by its address.
        self._read_at: dict[int, int] = {}

    def device_buffer(self, size_bytes: int) -> Tensor:
        """Garbage: every float in it is NaN."""
        return torch.full((size_bytes,), 0xFF, dtype=torch.uint8)

    def computed(self) -> int:
        """The time now; later than every layer handed out until now."""
        self._now += 1
        return self._now

    def start(self, target: Tensor, source: Tensor, after: int) -> _Pending:
        """Spoil the target; the copy itself waits until it is waited for."""
        assert after > self._read_at.get(target.data_ptr(), 0), "a buffer is written while it is computed from"
        target.numpy().fill(0xFF)
        self.started += 1
        return _Pending(target, source)

    def wait(self, done: _Pending) -> None:
        """Let the copy land."""
        self._now += 1
        self._read_at[done.target.data_ptr()] = self._now
        done.target.numpy()[:] = done.source.numpy()
        self.landed += 1
