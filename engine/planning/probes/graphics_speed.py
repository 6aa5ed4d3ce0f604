"""Speeds of a GPU: reading its memory, multiplying, and receiving from the host."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

from engine.messages.machine import GpuSpeed
from engine.planning.probes.host_speed import operator_seconds

_BUFFER_BYTES = 256 << 20
_CROSSING_BYTES = 64 << 20
_SIDE = 4096
_TRIALS = 3


def measure_gpu(
    device: torch.device, dtype: torch.dtype, free_bytes: int, check: Callable[[], None]
) -> GpuSpeed:
    """Measure a GPU, in about a second.

    Args:
        device: The GPU.
        dtype: Its 16-bit type.
        free_bytes: Its free memory; an eighth is used at most.
        check: Called often; raises to cancel.
    """
    most = max(1 << 20, free_bytes // 8)
    buffer = torch.ones(min(_BUFFER_BYTES, most) // 4, device=device)
    reading = _best(lambda: buffer.sum(), device, check)
    side = min(_SIDE, max(64, int((most / 6) ** 0.5)))
    matrix = torch.ones(side, side, device=device, dtype=dtype)
    multiplying = _best(lambda: matrix @ matrix, device, check)
    host = torch.ones(min(_CROSSING_BYTES, most) // 4)
    if device.type == "cuda":
        host = host.pin_memory()
    place = torch.empty_like(host, device=device)
    crossing = _best(lambda: place.copy_(host), device, check)
    return GpuSpeed(
        memory_bytes_per_s=buffer.nbytes / reading,
        products_per_s=side**3 / multiplying,
        operator_s=operator_seconds(device),
        from_host_bytes_per_s=host.nbytes / crossing,
    )


def _best(action: Callable[[], torch.Tensor], device: torch.device, check: Callable[[], None]) -> float:
    """Seconds of the fastest of some runs, the first of which does not count."""
    best = float("inf")
    for trial in range(_TRIALS + 1):
        check()
        begun = time.perf_counter()
        result = action()
        result.flatten()[0].item()  # waits until it is done
        if trial:
            best = min(best, time.perf_counter() - begun)
    return best
