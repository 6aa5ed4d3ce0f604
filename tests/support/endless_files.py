"""Readers of files that never end, for a process of their own: it imports this module and little else."""

from __future__ import annotations

import time
from collections.abc import Iterator


def never_ends(path: bytes) -> Iterator[bytes]:
    """Stands for a file that hangs."""
    while path:
        time.sleep(0.01)
    yield b""


def takes_everything(path: bytes) -> Iterator[bytes]:
    """Stands for a file that fills the memory."""
    taken: list[bytes] = []
    while path:
        taken.append(b"x" * (1 << 20))
    yield b"".join(taken)
