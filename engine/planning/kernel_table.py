"""Kernels that are fastest on this machine: seconds by format, width and instruction set, measured once and kept.

The file lies in the cache folder under a hash of the hardware and of the kernel library. Two questions are answered
by it: which instruction set multiplies a format at a width, and which format is fastest. One matrix, in enough
copies that no cache holds them, stands in for a model. A measurement taken while other programs kept the machine
busy is repeated the next time that speeds are measured, and the best of both is kept; no load waits for it.

Instruction sets stand in for each other only if they give the same bits, so that a table that was measured on a
busy machine costs time and changes no token. In blocks of 8 bits and fewer all do but the portable one. In bf16 the
sets that multiply activations in float32 do, and those that round them to bfloat16 do not (AMX and AVX-512 add in
another order), so the highest of the latter is always taken.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy
import torch
from torch import Tensor

from engine.files import read_cached, write_cached
from engine.kernels import blocks, library
from engine.kernels.library import Packed
from engine.model.linear import Linear, PackedLinear
from engine.model.packed_loader import pack
from engine.model.weight_format import FORMAT_NAMES, MEASURED_NAMES, WeightFormat, weight_format
from engine.planning.probes.host import OtherWork, read_processor

WIDTHS = (1, 2, 4, 8, 16, 32, 64)
# A format is judged by plain decoding and by a width that verification uses.
FORMAT_WIDTHS = (1, 16)
TORCH = "torch"

_INTEGER_SETS = ("avx2", "avxvnni", "avx512vnni", "avx512vbmi", "amx", "neon", "dotprod")
_SAME_RESULTS = {
    **dict.fromkeys(MEASURED_NAMES, (_INTEGER_SETS,)),
    "bf16": (("avx2", "avx512vnni"),),
    "f16": (),
}
# Instruction sets without kernels of their own for a format, and the sets whose kernels they run.
_BORROWED = {
    **{name: dict.fromkeys(("avx512vbmi", "avx512bf16"), "avx512vnni") for name in MEASURED_NAMES},
    "iq2_s": {"avx512bf16": "avx512vbmi"},
    "bf16": {"avxvnni": "avx2", "avx512vbmi": "avx512vnni", "dotprod": "neon"},
}
# A set other than the highest must be faster by more than the noise of runs.
_WORTH = 0.95
_ROWS, _COLUMNS = 2048, 2048
_COPIES_BYTES = 96 << 20
_FEWEST_RUNS, _MOST_RUNS, _RUNS_S = 5, 60, 0.03
_FILE_NAME = "kernel-table.json"
_BUSY = "measured-busy"
# On a machine that stays busy, not every plan of a list of models measures again.
_HOLDS_S = 60.0

# Seconds of one product of one format, by width and instruction set (or torch).
Row = dict[int, dict[str, float]]


def candidates(name: str) -> tuple[str, ...]:
    """Return the instruction sets to choose from for a format, highest last; ``("torch",)`` if torch multiplies."""
    highest = library.available()
    if highest is None or not weight_format(name).packed:
        return (TORCH,)
    own = _BORROWED[name].get(highest, highest)
    sets = library.instruction_sets()
    below = [lower for lower in list(sets)[: list(sets).index(own)] if lower not in _BORROWED[name]]
    for group in _SAME_RESULTS[name]:
        if own in group:
            return (*(lower for lower in below if lower in group and sets[lower]), highest)
    return (highest,)


def measured_rows(cache_folder: Path, names: Iterable[str], check: Callable[[], None] = lambda: None) -> dict[str, Row]:
    """Return the rows of some formats, measured if they are not kept yet (about half a second each)."""
    kept, doubtful = kept_rows(cache_folder), _measured_busy(cache_folder)
    again = doubtful if _age_s(cache_folder) > _HOLDS_S else frozenset()
    wanted = tuple(names)
    fresh: dict[str, Row] = {}
    for name in wanted:
        if name not in kept or name in again:
            others = OtherWork()
            fresh[name] = _best(_measure(name, check), kept.get(name))
            doubtful = doubtful | {name} if others.busy else doubtful - {name}
    if fresh:
        rows = {hardware_key(): kept | fresh, _BUSY: sorted(doubtful)}
        write_cached(cache_folder / _FILE_NAME, rows)
    return {name: (kept | fresh)[name] for name in wanted}


def forget(cache_folder: Path) -> None:
    """Forget all measurements, so that they are taken again when needed."""
    with suppress(OSError):
        (cache_folder / _FILE_NAME).unlink()


def matrix_size() -> tuple[int, int]:
    """Return rows and columns of the matrix that is multiplied."""
    return _ROWS, _COLUMNS


def kept_rows(cache_folder: Path) -> dict[str, Row]:
    """Return the measurements of this hardware with this library, or nothing if the file is damaged."""
    try:
        table = read_cached(cache_folder / _FILE_NAME)[hardware_key()]
        rows = {
            str(name): {int(width): {str(one): float(s) for one, s in cell.items()} for width, cell in row.items()}
            for name, row in table.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
    return {name: row for name, row in rows.items() if name in MEASURED_NAMES and row.keys() == set(_widths(name))}


def format_seconds(cache_folder: Path) -> dict[str, float]:
    """Return the seconds of each format's products at the widths that count, by its name."""
    rows = measured_rows(cache_folder, FORMAT_NAMES)
    return {name: sum(min(row[width].values()) for width in FORMAT_WIDTHS) for name, row in rows.items()}


def choices(name: str, row: Row) -> dict[int, str]:
    """Return the fastest instruction set by width, only for widths where it is not the highest."""
    highest = candidates(name)[-1]
    found = {}
    for width, seconds in row.items():
        best = min(seconds, key=seconds.__getitem__)
        if seconds[best] < _WORTH * seconds.get(highest, 0.0):
            found[width] = best
    return found


def describe(cache_folder: Path) -> str:
    """Describe the table's choices in one line for users."""
    parts = []
    for name, row in kept_rows(cache_folder).items():
        if weight_format(name).packed:
            others = [f"{one} at {width} tokens" for width, one in choices(name, row).items()]
            parts.append(", ".join([f"{name} {candidates(name)[-1]}", *others]))
    return "; ".join(parts) or "not measured yet; the first load of a large model measures it"


def prefer_fastest(chosen: WeightFormat, cache_folder: Path, check: Callable[[], None]) -> None:
    """Let the kernel library use the instruction sets that are fastest for a format on this machine.

    Measurements of a busy machine suffice: a load does not wait until they are repeated.
    """
    name = chosen.measured_as
    if chosen.packed and len(candidates(name)) > 1:
        row = kept_rows(cache_folder).get(name) or measured_rows(cache_folder, (name,), check)[name]
        found = choices(name, row)
        for kind in chosen.kinds:
            for width in WIDTHS:
                library.prefer(kind, width, found.get(width))


def hardware_key() -> str:
    """Return a hash that changes with everything that the table depends on."""
    kernels = (library.available(), library.built_ns())
    facts = (read_processor(), kernels, torch.__version__)
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]


def _measured_busy(cache_folder: Path) -> frozenset[str]:
    """Return the formats whose rows were measured on a busy machine."""
    try:
        return frozenset(read_cached(cache_folder / _FILE_NAME)[_BUSY])
    except (KeyError, TypeError):
        return frozenset()


def _age_s(cache_folder: Path) -> float:
    try:
        return abs(time.time() - (cache_folder / _FILE_NAME).stat().st_mtime)
    except OSError:
        return 0.0


def _best(fresh: Row, before: Row | None) -> Row:
    if before is None:
        return fresh
    return {
        width: {one: min(seconds, before[width].get(one, seconds)) for one, seconds in cell.items()}
        for width, cell in fresh.items()
    }


def _widths(name: str) -> tuple[int, ...]:
    return WIDTHS if len(candidates(name)) > 1 else FORMAT_WIDTHS


@torch.inference_mode()
def _measure(name: str, check: Callable[[], None]) -> Row:
    measured = weight_format(name)
    products = _products(measured, _random_rows(_ROWS))
    row: Row = {}
    for width in _widths(name):
        tokens = _random_rows(width).to(measured.activations)
        row[width] = {}
        try:
            for one in candidates(name):
                check()
                if one != TORCH:
                    library.prefer(measured.matrix_kind(_COLUMNS), width, one)
                row[width][one] = _seconds(products, tokens)
        finally:
            if measured.packed:
                library.prefer(measured.matrix_kind(_COLUMNS), width, None)
    return row


@torch.inference_mode()
def arranging_s_per_byte(name: str) -> float:
    """Return the seconds of putting a byte of a file in a format into the kernels' order; 0 for a dense format."""
    measured = weight_format(name)
    if not measured.packed:
        return 0.0
    kind = measured.matrix_kind(_COLUMNS)
    raw = _random_bytes(_ROWS * blocks.row_bytes(kind, _COLUMNS))
    copies = [raw.clone() for _ in range(max(1, _COPIES_BYTES // len(raw)))]
    arranged = [partial(blocks.arrange, kind, copy, _ROWS, _COLUMNS, None, wild=True) for copy in copies]
    return _seconds(arranged, torch.empty(measured.matrix_bytes(_ROWS, _COLUMNS), dtype=torch.uint8)) / len(raw)


def _random_rows(rows: int) -> Tensor:
    return torch.from_numpy(numpy.random.default_rng(0).standard_normal((rows, _COLUMNS), numpy.float32))


def _random_bytes(*sizes: int) -> Tensor:
    return torch.from_numpy(numpy.random.default_rng(0).integers(256, size=sizes, dtype=numpy.uint8))


def _seconds(products: Sequence[Callable[[Tensor], object]], tokens: Tensor) -> float:
    """Return the seconds of the fastest of some runs: other work on the machine can only slow a run down."""
    products[-1](tokens)
    best, begun = float("inf"), time.perf_counter()
    for run in range(_MOST_RUNS):
        before = time.perf_counter()
        if run >= _FEWEST_RUNS and before - begun > _RUNS_S:
            break
        products[run % len(products)](tokens)
        best = min(best, time.perf_counter() - before)
    return best


def _packed(kind: int, weight: Tensor) -> Packed:
    """Return a matrix in a type, or random blocks in one that nothing is quantized to."""
    if blocks.name_of(kind) in blocks.QUANTIZABLE:
        return pack(weight, kind)
    raw = _random_bytes(len(weight), blocks.row_bytes(kind, weight.shape[1]))
    return blocks.arrange(kind, raw, len(weight), weight.shape[1], wild=True)


def _products(measured: WeightFormat, weight: Tensor) -> list[Callable[[Tensor], Tensor]]:
    """Return the product with each of several copies of a matrix."""
    copies = range(max(1, _COPIES_BYTES // measured.matrix_bytes(*weight.shape)))
    if not measured.packed:
        return [Linear(weight.to(measured.dense, copy=True)) for _ in copies]
    packed = _packed(measured.matrix_kind(weight.shape[1]), weight)
    return [PackedLinear(replace(packed, data=packed.data.clone())) for _ in copies]
