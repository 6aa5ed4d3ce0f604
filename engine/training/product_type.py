"""The type that trainings multiply in: bfloat16 is half as much to read, but many processors have no products of it."""

from __future__ import annotations

import time
from functools import cache

import torch
from torch.nn import functional

# Rows, inputs and outputs of the products that are timed, as in a layer of a small model, and how often each is.
_ROWS, _INPUTS, _OUTPUTS, _TURNS = 256, 576, 1536, 5


@cache
def product_type() -> torch.dtype:
    """The faster one of bfloat16 and float32 here, by the best times of one product in each."""
    best: dict[torch.dtype, float] = {}
    pairs = [
        (torch.ones(_ROWS, _INPUTS, dtype=each), torch.ones(_OUTPUTS, _INPUTS, dtype=each))
        for each in (torch.bfloat16, torch.float32)
    ]
    for _ in range(_TURNS):
        for rows, matrix in pairs:
            begun = time.perf_counter()
            functional.linear(rows, matrix)
            took = time.perf_counter() - begun
            best[rows.dtype] = min(took, best.get(rows.dtype, took))
    return min(best, key=best.__getitem__)
