"""Matrices of every block type with wild integers and sane scales."""

from __future__ import annotations

import torch
from torch import Tensor

from engine.kernels import blocks
from engine.kernels.library import Packed

TYPES = blocks.NAMES
BLOCKS = {name: type for name, type in TYPES.items() if name not in ("F16", "BF16")}
#: Where a block's half-precision numbers are.
_HALVES = {
    **dict.fromkeys(("Q4_0", "Q5_0", "Q8_0", "IQ4_NL", "IQ4_XS"), (0,)),
    **dict.fromkeys(("IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ1_S", "IQ1_M"), (0,)),
    **dict.fromkeys(("Q4_1", "Q5_1", "Q4_K", "Q5_K"), (0, 2)),
    **dict.fromkeys(("Q1_0", "Q2_0", "PQ2_0"), (0,)),
    **{"Q2_K": (80, 82), "Q3_K": (108,), "Q6_K": (208,), "MXFP4": (), "NVFP4": ()},
    **{"TQ1_0": (52,), "TQ2_0": (64,), "PTQ1_0": (26,)},
    **dict.fromkeys(("IQ2_K", "IQ3_K", "IQ4_K", "IQ5_K", "IQ6_K"), (0,)),
}


def put_half(name: str, raw: Tensor, at: int, half: Tensor) -> None:
    """Write a half-precision number, (..., 2) uint8, into blocks, (..., bytes): IQ1_M has one in four upper nibbles."""
    if name != "IQ1_M":
        raw[..., at : at + 2] = half
        return
    for i in range(4):
        place = raw[..., 49 + 2 * i]
        place.copy_(place & 15 | (half[..., i // 2] >> i % 2 * 4 & 15) << 4)


def raw_matrix(name: str, rows: int, columns: int, seed: int = 0, scale: float = 0.02) -> Tensor:
    """A matrix as a GGUF file has it: (rows, bytes) uint8."""
    generator = torch.Generator().manual_seed(seed)
    if name in ("F16", "BF16"):
        floats = torch.randn(rows, columns, generator=generator) * scale
        return floats.to(torch.float16 if name == "F16" else torch.bfloat16).view(torch.uint8)
    (elements, size), form = blocks.block_of(TYPES[name]), blocks._FORMS[TYPES[name]]
    raw = torch.randint(256, (rows, columns // elements, size), dtype=torch.uint8, generator=generator)
    for at in _HALVES.get(name, ()):
        halves = (torch.rand(rows, columns // elements, 1, generator=generator) - 0.5) * scale
        put_half(name, raw, at, halves.to(torch.float16).view(torch.uint8))
    if name == "MXFP4":
        raw[..., 0] = raw[..., 0] % 6 + 118
    if name == "NVFP4":
        raw[..., :4] = raw[..., :4] % 40
    if form.row_scale is not None:
        head = (torch.rand(rows, 1, generator=generator) - 0.5) * scale
        return torch.cat((head.to(form.row_scale).view(torch.uint8), raw.flatten(1)), 1)
    return raw.flatten(1)


def matrix(name: str, rows: int, columns: int, seed: int = 0, scale: float = 0.02) -> Packed:
    """The same, arranged for the kernels."""
    return blocks.arrange(TYPES[name], raw_matrix(name, rows, columns, seed, scale), rows, columns)
