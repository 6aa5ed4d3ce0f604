"""Attention of one row, of a chain and of a tree behind long texts, and other ways to compute a tree's part.

    python -m tests.benchmarks.tree_attention [--threads 2 1] [--before tenon_kernels.so] [--runs 9]
    TENON_CPU_CAP=avx2 python -m tests.benchmarks.tree_attention

Layers have SmolLM2-135M's attention (30 layers, 9 heads, 3 of keys and values, 64 channels) and a hidden state of 32
channels, so that next to nothing else is computed; milliseconds are of all layers, medians. What they take behind 16
tokens is in them. With --before, a library of another build runs the same in turn, and "times" is its time over the
present one's.

The second table is of the tree alone, behind nothing: with the kernel, all else of those layers included; as a chain,
which is the dense form with the same kernel, for each row's scores with all rows are computed and masked; and both
forms in torch's operators, without anything else of a layer: dense, with a mask over all rows, and naive sparse, where
each row's keys and values are gathered by its ancestors.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from statistics import median

import torch
from torch import Tensor
from torch.nn import functional

from engine.kernels import layer, library
from engine.kernels.library import Matrix
from engine.model.fused_layer import FusedStep, fused_step, fused_text
from tests.support.matrices import matrix

LAYERS, HEADS, KV_HEADS, HEAD_DIM, HIDDEN = 30, 9, 3, 64, 32
LENGTHS, WIDTHS = (16, 1000, 4000, 8000), (1, 16, 64)
_MOST_ROWS = max(LENGTHS) + max(WIDTHS)
_SETTLING_S = 0.03


def parents_of(rows: int) -> list[int]:
    """A binary tree's, by level; the root has -1."""
    return [(row + 1) // 2 - 1 for row in range(rows)]


def mask_of(rows: int) -> Tensor:
    """(rows, rows): which row sees which."""
    mask = torch.eye(rows, dtype=torch.bool)
    for row, parent in enumerate(parents_of(rows)):
        if parent >= 0:
            mask[row] |= mask[parent]
    return mask


class Layers:
    """Layers of one shape with caches of their own, run by any build of the library."""

    def __init__(self) -> None:
        sizes = {"q": (HEADS * HEAD_DIM, HIDDEN), "output": (HIDDEN, HEADS * HEAD_DIM)}
        sizes |= dict.fromkeys(("k", "v"), (KV_HEADS * HEAD_DIM, HIDDEN))
        sizes |= dict.fromkeys(("gate", "up", "down"), (HIDDEN, HIDDEN))
        self._gain = torch.ones(HIDDEN)
        self._packed = {name: matrix("Q8_0", *size) for name, size in sizes.items()}
        norms = dict.fromkeys(("attention_norm", "mlp_norm"), self._gain.data_ptr())
        self._layer = layer.Layer(
            hidden=HIDDEN,
            heads=HEADS,
            kv_heads=KV_HEADS,
            head_dim=HEAD_DIM,
            norm_floor=1e-5 * HIDDEN,
            scale=HEAD_DIM**-0.5,
            residual_scale=1.0,
            activation=layer.ACTIVATIONS["silu"],
            **norms,
            **{name: Matrix.of(packed, None) for name, packed in self._packed.items()},
        )
        self.caches = [torch.randn(2, KV_HEADS, _MOST_ROWS, HEAD_DIM).bfloat16() for _ in range(LAYERS)]

    def step(self, length: int, rows: int, mask: Tensor | None) -> FusedStep:
        """Rows behind a text."""
        return fused_step([fused_text(rows, mask, self.caches[0], length)], torch.bfloat16, None, None)

    def forward(self, functions: ctypes.CDLL, step: FusedStep) -> Callable[[], None]:
        """All layers, as a call."""
        described, count = ctypes.byref(self._layer), step.step.m
        threads = torch.get_num_threads()
        hidden = torch.randn(count, HIDDEN)
        needed = functions.tenon_layer_scratch_bytes(described, ctypes.byref(step.step), threads)
        scratch = torch.empty(needed + 63, dtype=torch.uint8)

        addresses = (ctypes.c_void_p * len(self.caches))(*(cache.data_ptr() for cache in self.caches))
        stores = layer.stores([addresses])

        def run() -> None:
            for index in range(len(self.caches)):
                functions.tenon_layer_forward(
                    described,
                    ctypes.byref(step.step),
                    ctypes.addressof(stores),
                    index,
                    hidden.data_ptr(),
                    (scratch.data_ptr() + 63) // 64 * 64,
                    threads,
                )

        return run


def seconds_of(runs: Sequence[Callable[[], None]], turns: int) -> list[float]:
    """Medians; they run in turn, forwards and backwards, each some times in a row first."""
    taken: list[list[float]] = [[] for _ in runs]
    for turn in range(turns):
        for run, found in list(zip(runs, taken, strict=True))[:: 1 - turn % 2 * 2]:
            settled = time.perf_counter() + _SETTLING_S
            run()
            while time.perf_counter() < settled:
                run()
            for _ in range(3):
                begun = time.perf_counter()
                run()
                found.append(time.perf_counter() - begun)
    return [median(found) for found in taken]


def other_build(path: Path) -> ctypes.CDLL:
    """The library of another build, with the same cap."""
    functions, present = ctypes.CDLL(str(path.resolve())), library.loaded()
    assert present is not None
    for name in ("tenon_layer_scratch_bytes", "tenon_layer_forward", "tenon_select"):
        function, known = getattr(functions, name), getattr(present, name)
        function.restype, function.argtypes = known.restype, known.argtypes
    functions.tenon_select((os.environ.get(library.CAP_VARIABLE) or "").encode() or None)
    return functions


def behind_texts(layers: Layers, builds: Sequence[ctypes.CDLL], turns: int) -> Iterator[str]:
    """Lines of the first table."""
    kinds = [(f"{rows} in a chain", rows, None) for rows in WIDTHS[1:]]
    kinds = [("1 row", 1, None), *kinds, *((f"{rows} in a tree", rows, mask_of(rows)) for rows in WIDTHS[1:])]
    yield "| behind |" + "".join(f" {name} |" + " times |" * (len(builds) - 1) for name, *_ in kinds)
    yield "|---|" + "---|" * len(kinds) * len(builds)
    for length in LENGTHS:
        cells = []
        for _, rows, mask in kinds:
            step = layers.step(length, rows, mask)
            times = seconds_of([layers.forward(build, step) for build in builds], turns)
            cells.append(f" {1e3 * times[0]:.2f} |")
            cells += [f" {other / times[0]:.2f} |" for other in times[1:]]
        yield f"| {length:,} |" + "".join(cells)


def dense(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """Attention of all rows to all rows, (heads, rows, head_dim), with a mask."""
    return functional.scaled_dot_product_attention(queries[None], keys[None], values[None], mask, enable_gqa=True)


def naive_sparse(queries: Tensor, keys: Tensor, values: Tensor, ancestors: Tensor, seen: Tensor) -> Tensor:
    """The same with each row's ancestors, (rows, most), gathered; `seen` says which of them there are."""
    keys, values = (part[:, ancestors].repeat_interleave(HEADS // KV_HEADS, 0) for part in (keys, values))
    scores = (queries[:, :, None] @ keys.transpose(2, 3))[:, :, 0] * HEAD_DIM**-0.5
    weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
    return (weights[:, :, None] @ values)[:, :, 0]


def of_the_tree(layers: Layers, functions: ctypes.CDLL, turns: int) -> Iterator[str]:
    """Lines of the second table."""
    yield "| rows | kernel, by ancestors | kernel, dense | torch, dense | torch, naive sparse |"
    yield "|---|---|---|---|---|"
    for rows in WIDTHS[1:]:
        mask = mask_of(rows)
        queries, keys, values = (torch.randn(heads, rows, HEAD_DIM) for heads in (HEADS, KV_HEADS, KV_HEADS))
        most = int(mask.sum(1).max())
        ancestors = mask.to(torch.int8).argsort(dim=1, descending=True, stable=True)[:, :most]
        seen = mask.gather(1, ancestors)

        def all_layers(run: Callable[..., Tensor], *given: Tensor) -> Callable[[], None]:
            def of_each() -> None:
                for _ in range(LAYERS):
                    run(*given)

            return of_each

        times = seconds_of(
            [
                layers.forward(functions, layers.step(0, rows, mask)),
                layers.forward(functions, layers.step(0, rows, None)),
                all_layers(dense, queries, keys, values, mask),
                all_layers(naive_sparse, queries, keys, values, ancestors, seen),
            ],
            turns,
        )
        yield f"| {rows} |" + "".join(f" {1e3 * each:.2f} |" for each in times)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, nargs="+", default=[2, 1])
    parser.add_argument("--before", type=Path, help="a library of another build")
    parser.add_argument("--runs", type=int, default=9, help="turns of each measurement")
    options = parser.parse_args()
    present = library.loaded()
    if present is None:
        parser.error(library.reason())
    builds = [present] if options.before is None else [present, other_build(options.before)]
    layers = Layers()
    for threads in options.threads:
        torch.set_num_threads(threads)
        print(f"{threads} threads, {library.available()}, torch {torch.__version__}; ms")
        tables = behind_texts(layers, builds, options.runs), of_the_tree(layers, present, options.runs)
        for line in chain(*tables):
            print(line, flush=True)


if __name__ == "__main__":
    main()
