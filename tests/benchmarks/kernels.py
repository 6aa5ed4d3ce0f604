"""Matrix products by block type and width, on each instruction set.

    python -m tests.benchmarks.kernels
    python -m tests.benchmarks.kernels --rows 2048 --columns 5632 --types Q4_K Q6_K --widths 1 16 --sets avx2 amx

Matrices are copied until they exceed the processor's caches and rotated, so that every run reads them from memory, with
all threads: GB/s of weights. Billions of products a second are of one thread's processor time over one matrix that
stays in its cache, so that they hardly depend on what else runs.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import replace

import torch

from engine.kernels import blocks, library
from engine.kernels.library import Packed
from tests.support.matrices import TYPES, matrix

_BEYOND_CACHES_BYTES = 700_000_000
_PRODUCTS = 2_000_000_000
_RUNS = 5


def bytes_per_s(copies: list[Packed], x: torch.Tensor) -> float:
    """Median over rounds through all copies."""
    rates = []
    for _ in range(_RUNS):
        begun = time.perf_counter()
        for packed in copies:
            blocks.matmul(packed, x)
        rates.append(len(copies) * copies[0].size_bytes / (time.perf_counter() - begun))
    return statistics.median(rates)


def products_per_s(packed: Packed, x: torch.Tensor) -> float:
    """The best of some runs, by processor time of one thread."""
    products = packed.rows * packed.columns * len(x)
    count = max(3, _PRODUCTS // products)
    best = 0.0
    for _ in range(_RUNS):
        begun = time.thread_time()
        for _ in range(count):
            blocks.matmul(packed, x, threads=1)
        best = max(best, count * products / (time.thread_time() - begun))
    return best


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usable = [name for name, runs in library.instruction_sets().items() if runs and name != "portable"]
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--columns", type=int, default=2048)
    parser.add_argument("--types", nargs="+", default=["Q4_0", "Q4_K", "Q6_K", "Q8_0", "BF16"], choices=TYPES)
    parser.add_argument("--widths", nargs="+", type=int, default=[1, 4, 8, 16, 64, 256])
    parser.add_argument("--sets", nargs="+", default=usable, choices=library.instruction_sets())
    options = parser.parse_args()
    for name in options.types:
        packed = matrix(name, options.rows, options.columns)
        copies = [
            replace(packed, data=packed.data.clone()) for _ in range(2 + _BEYOND_CACHES_BYTES // packed.size_bytes)
        ]
        for instruction_set in options.sets:
            library.select(instruction_set)
            cells = []
            for width in options.widths:
                x = torch.randn(width, options.columns)
                cells.append(f"M={width} {products_per_s(packed, x) / 1e9:6.1f} G/s")
            rate = bytes_per_s(copies, torch.randn(1, options.columns)) / 1e9
            print(f"{name:7}{instruction_set:11}{rate:5.1f} GB/s  " + "  ".join(cells), flush=True)


if __name__ == "__main__":
    main()
