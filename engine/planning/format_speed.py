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
from engine.model.linear import dense_linear
from engine.model.weight_format import FORMATS, WeightFormat
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
        if found.keys() == FORMATS.keys():
            return found
    measured = {name: _measure(weight_format) for name, weight_format in FORMATS.items()}
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
def _measure(weight_format: WeightFormat) -> dict[int, float]:
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(_ROWS, _COLUMNS, generator=generator)
    copies = max(1, _COPIES_BYTES // weight_format.matrix_bytes(_ROWS, _COLUMNS))
    products = [_product(weight_format, weight) for _ in range(copies)]
    row = {}
    for width in WIDTHS:
        tokens = torch.randn(width, _COLUMNS, generator=generator).to(weight_format.activations)
        seconds = []
        for product in products * 2:
            begun = time.perf_counter()
            product(tokens)
            seconds.append(time.perf_counter() - begun)
        row[width] = statistics.median(seconds[1:])
    return row


def _product(weight_format: WeightFormat, weight: Tensor) -> Callable[[Tensor], Tensor]:
    if weight_format.packing is None:
        return dense_linear(weight.to(weight_format.dense, copy=True))
    packed, matmul = weight_format.packing.pack(weight), weight_format.packing.matmul
    return lambda tokens: matmul(packed, tokens, None)
