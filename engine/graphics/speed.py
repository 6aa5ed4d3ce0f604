"""Speeds of a graphics chip, measured with the shaders that models use."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import Tensor

from engine.graphics import shaders
from engine.graphics.adapters import Chip
from engine.graphics.matrix import FEW_ROWS, ChipMatrix
from engine.kernels import blocks
from engine.kernels.library import Packed
from engine.messages.machine import GpuSpeed
from engine.model.linear import PackedLinear

_TYPE = blocks.NAMES["Q4_0"]
# Columns of a small model: longer rows are read faster.
_COLUMNS, _MOST_ROWS, _PROMPT_ROWS = 1024, 65536, 256
_LAUNCHES, _TRIALS, _SHARING = 100, 3, 8


def measure_chip(chip: Chip, most_bytes: int, check: Callable[[], None]) -> GpuSpeed:
    """Measure a chip, in about a second.

    Args:
        chip: The chip.
        most_bytes: Memory that may be taken.
        check: Called often; raises to cancel.

    Raises:
        RuntimeError: The chip fails.
    """
    row_bytes = blocks.row_bytes(_TYPE, _COLUMNS)
    rows = max(64, min(_MOST_ROWS, most_bytes // 2 // (row_bytes + 4 * _PROMPT_ROWS)))
    raw = torch.zeros(rows * row_bytes, dtype=torch.uint8)
    x = torch.zeros(_PROMPT_ROWS, _COLUMNS)
    taken = [chip.buffer(x), chip.buffer(4 * rows * _PROMPT_ROWS)]
    back = taken[1], 4

    def product(count: int, part: int) -> float:
        step = chip.buffer(torch.tensor([count, 0, 0, 0, count, 0, 0], dtype=torch.int32))
        linear = PackedLinear(Packed(raw[: part * row_bytes], part, _COLUMNS, _TYPE))
        steps = list(ChipMatrix(chip, [linear], taken[0], taken[1], step).steps(count))
        return fastest_s(lambda: chip.run(steps, back), check)

    some = max(64, rows // _PROMPT_ROWS)
    reading, sharing, multiplying = product(1, rows), product(_SHARING, rows), product(_PROMPT_ROWS, some)
    further = max(sharing - reading, 0.01 * reading) / (_SHARING - 1)  # of one row more
    norm = chip.program(shaders.norm(64, 1e-6))
    bound = chip.bound(norm, taken[0], chip.buffer(torch.ones(64)), taken[1])
    launching = fastest_s(lambda: chip.run([(norm, bound, 1, 1)] * _LAUNCHES, back), check)
    begun = time.perf_counter()
    chip.write(taken[0], x)
    chip.run([(norm, bound, 1, 1)], back)
    copying = time.perf_counter() - begun
    return GpuSpeed(
        memory_bytes_per_s=raw.nbytes / reading,
        products_per_s=_PROMPT_ROWS * some * _COLUMNS / multiplying,
        operator_s=launching / _LAUNCHES,
        from_host_bytes_per_s=x.nbytes / copying,
        packed=True,
        few_products_per_s=rows * _COLUMNS / further,
        few_rows=FEW_ROWS,
    )


def fastest_s(action: Callable[[], Tensor], check: Callable[[], None]) -> float:
    """Return the seconds of the fastest of some runs, each until its result is there; the first does not count."""
    best = float("inf")
    for trial in range(_TRIALS + 1):
        check()
        begun = time.perf_counter()
        action().flatten()[0].item()  # waits until it is done
        if trial:
            best = min(best, time.perf_counter() - begun)
    return best
