"""Matrix products by format and width: Tenon's kernels beside torch's best, in alternating runs.

    python -m tests.benchmarks.kernels
    python -m tests.benchmarks.kernels --rows 2048 --columns 5632 --widths 1 16 --cap avx2

Weights are copied until they exceed the processor's caches and rotated, so that every run reads them from memory.
Figures are medians. Torch is not capped by --cap; set ATEN_CPU_CAPABILITY and ONEDNN_MAX_CPU_ISA for that.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from types import ModuleType

import torch
from torch import Tensor
from torch.nn import functional

from engine.kernels import bf16, int4, int8, library

FORMATS = {"int8": int8, "int4": int4, "bf16": bf16}
Product = Callable[[int, Tensor], object]


def torch_products(weight: Tensor, copies: int) -> dict[str, Product]:
    """Torch's two ways in bfloat16; each takes a run's number and activations (m, k) float32."""
    halves = [weight.to(torch.bfloat16) for _ in range(copies)]

    def linear(run: int, x: Tensor) -> Tensor:
        return functional.linear(x.to(torch.bfloat16), halves[run % copies])

    def as_columns(run: int, x: Tensor) -> Tensor:
        rows = x.to(torch.bfloat16)
        if len(rows) == 1:
            return torch.mv(halves[run % copies], rows[0])
        return torch.mm(halves[run % copies], rows.t())

    return {"torch linear bf16": linear, "torch columns bf16": as_columns}


def tenon_product(form: ModuleType, weight: Tensor, cache_bytes: int) -> tuple[Product, int]:
    """Tenon's product in a format, and the bytes of one copy of the weights."""
    first = form.pack(weight)
    copies = [first]
    while len(copies) * first.size_bytes < cache_bytes:
        copies.append(type(first)(first.data.clone(), first.rows, first.columns))
    return lambda run, x: form.matmul(copies[run % len(copies)], x), first.size_bytes


def alternate(products: dict[str, Product], x: Tensor, runs: int) -> dict[str, float]:
    """Median seconds of each product, run in turn, each after a pause and an untimed run of its own.

    The pause lets the others' worker threads stop spinning, and the untimed run wakes this one's.
    """
    seconds: dict[str, list[float]] = {name: [] for name in products}
    for run in range(runs):
        for name, product in products.items():
            time.sleep(0.003)
            product(2 * run, x)
            start = time.perf_counter()
            product(2 * run + 1, x)
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def read_rate(cache_bytes: int) -> float:
    """Bytes a second of a sum over memory, the best of five: what products are measured against."""
    block = torch.ones(max(cache_bytes, 1 << 28) // 8, dtype=torch.int64)
    best = 0.0
    for _ in range(5):
        start = time.perf_counter()
        block.sum()
        best = max(best, block.nbytes / (time.perf_counter() - start))
    return best


def report(
    width: int, seconds: dict[str, float], sizes: dict[str, int], multiplications: int, rate: float
) -> None:
    """Print a line per product, with its ratio to torch's best."""
    best = min(value for name, value in seconds.items() if name.startswith("torch"))
    for name, value in seconds.items():
        gigabytes = sizes[name] / value / 1e9
        print(
            f"{name:20} {width:4} {value * 1e6:9.0f} us {gigabytes:6.1f} GB/s ({gigabytes * 1e9 / rate:4.0%}) "
            f"{multiplications * width / value / 1e9:7.0f} G/s {best / value:6.2f} x torch"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=11264)
    parser.add_argument("--columns", type=int, default=2048)
    parser.add_argument("--widths", type=int, nargs="+", default=[1, 4, 8, 16, 32, 64])
    parser.add_argument("--formats", nargs="+", choices=list(FORMATS), default=list(FORMATS))
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--cap", help="highest instruction set for Tenon's kernels")
    parser.add_argument("--cache-mb", type=int, default=256, help="weights are rotated beyond this size")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    chosen = library.select(options.cap)
    cache_bytes = options.cache_mb << 20
    rate = read_rate(cache_bytes)
    print(
        f"{options.rows} x {options.columns}, {options.threads} threads, {chosen}, torch {torch.__version__}"
    )
    print(f"reading memory: {rate / 1e9:.1f} GB/s")

    weight = torch.randn(options.rows, options.columns) / options.columns**0.5
    multiplications = weight.numel()
    copies = -(-cache_bytes // (2 * multiplications))
    products = torch_products(weight, copies)
    sizes = dict.fromkeys(products, 2 * multiplications)
    for name in options.formats:
        products[f"tenon {name}"], sizes[f"tenon {name}"] = tenon_product(FORMATS[name], weight, cache_bytes)
    for width in options.widths:
        x = torch.randn(width, options.columns)
        report(width, alternate(products, x, options.runs), sizes, multiplications, rate)


if __name__ == "__main__":
    main()
