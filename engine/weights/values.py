"""The numbers that a tensor's bytes stand for."""

from __future__ import annotations

import gguf.quants
import numpy as np
import torch
from gguf.constants import GGMLQuantizationType
from torch import Tensor

from engine.gguf.stored_tensor import PLAIN
from engine.kernels import blocks

#: Types that the kernels multiply as they are stored.
KERNEL_TYPES = frozenset(blocks.NAMES.values())


def values(kind: int, raw: Tensor, columns: int) -> Tensor:
    """Return whole rows as floats.

    Args:
        kind: Element type of the rows, as GGUF's number.
        raw: Bytes of the rows, uint8.
        columns: Elements of a row.

    Returns:
        (rows, columns) float32; plain numbers in their own type, maybe the bytes themselves.
    """
    if kind in PLAIN:
        aligned = raw if raw.storage_offset() % PLAIN[kind].itemsize == 0 else raw.clone()
        return aligned.view(PLAIN[kind]).view(-1, columns)
    if kind in KERNEL_TYPES:
        return blocks.dequantize(kind, raw, columns)
    with np.errstate(all="ignore"):  # a damaged scale is a NaN or an infinity
        return torch.from_numpy(gguf.quants.dequantize(raw.numpy(), GGMLQuantizationType(kind))).view(-1, columns)


def read_values(kind: int, raw: Tensor, rows: Tensor) -> None:
    """Read values into (rows, columns) float32, without extra memory if kernels know the type; see `values`."""
    if kind in PLAIN or kind not in KERNEL_TYPES or not rows.is_contiguous():
        rows.copy_(values(kind, raw, rows.shape[1]))
    else:
        blocks.dequantize_into(kind, raw, rows)
