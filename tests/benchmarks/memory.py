"""Memory for benchmarks: the bytes that this process takes, and the speed of reads."""

from __future__ import annotations

import time
from pathlib import Path

import torch

_BUFFER_BYTES = 1_600_000_000


def resident_bytes(field: str) -> int:
    """VmRSS, what is resident now, mapped pages counted, or VmHWM, the most since `forget_peak`. Linux only."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) << 10
    raise OSError(f"this system does not say {field}")


def forget_peak() -> None:
    """Let VmHWM begin anew."""
    Path("/proc/self/clear_refs").write_text("5")


class ReadRate:
    """Reads of a buffer that no cache holds.

    Args:
        threads: Number of threads that read; torch keeps that number.
    """

    def __init__(self, threads: int) -> None:
        torch.set_num_threads(threads)
        self._buffer = torch.ones(_BUFFER_BYTES // 8, dtype=torch.int64)

    def bytes_per_s(self) -> float:
        """One read of all of it."""
        begun = time.perf_counter()
        self._buffer.sum()
        return self._buffer.nbytes / (time.perf_counter() - begun)
