"""How fast each weight format multiplies on this machine: measured once, kept with a hash of the hardware.

The stand-in for a model is one matrix of the shape that takes most of a forward, in enough copies that no cache
holds them, at the width of plain decoding and at one that verification uses.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import torch
from torch import Tensor

from engine.kernels import library
from engine.model.linear import Linear
from engine.model.weight_format import FORMAT_NAMES, WeightFormat, weight_format
from engine.planning.hardware import usable_cores

WIDTHS = (1, 16)
_ROWS, _COLUMNS = 8192, 2048
_COPIES_BYTES = 160 << 20
_FILE_NAME = "format-speed.json"

# Seconds of one product by format and width.
Speeds = dict[str, dict[int, float]]


def format_speeds(cache_folder: Path) -> Speeds:
    """The table of this machine, measured where there is none yet (about two seconds)."""
    key = hardware_key()
    path = cache_folder / _FILE_NAME
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        kept = json.loads(path.read_text(encoding="utf-8"))[key]
        found = {
            name: {int(width): float(value) for width, value in row.items()} for name, row in kept.items()
        }
        if found.keys() == set(FORMAT_NAMES):
            return found
    measured = {name: _measure(weight_format(name)) for name in FORMAT_NAMES}
    with suppress(OSError):  # a cache that cannot be kept is measured again
        cache_folder.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
        unfinished.write_text(json.dumps({key: measured}), encoding="utf-8")
        unfinished.replace(path)
    return measured


def hardware_key() -> str:
    """Changes with everything that the table depends on."""
    processor = (
        torch.cpu.get_capabilities().get("cpu_name", "") if hasattr(torch.cpu, "get_capabilities") else ""
    )
    facts = (platform.machine(), processor, usable_cores(), library.available(), torch.__version__)
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]


@torch.inference_mode()
def _measure(measured: WeightFormat) -> dict[int, float]:
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(_ROWS, _COLUMNS, generator=generator)
    copies = max(1, _COPIES_BYTES // measured.matrix_bytes(_ROWS, _COLUMNS))
    products = [_product(measured, weight) for _ in range(copies)]
    row = {}
    for width in WIDTHS:
        tokens = torch.randn(width, _COLUMNS, generator=generator).to(measured.activations)
        seconds = []
        for product in products * 2:
            begun = time.perf_counter()
            product(tokens)
            seconds.append(time.perf_counter() - begun)
        row[width] = statistics.median(seconds[1:])
    return row


def _product(measured: WeightFormat, weight: Tensor) -> Callable[[Tensor], Tensor]:
    if measured.packing is None:
        return Linear(weight.to(measured.dense, copy=True))
    packed, matmul = measured.packing.pack(weight), measured.packing.matmul
    return lambda tokens: matmul(packed, tokens, None)
