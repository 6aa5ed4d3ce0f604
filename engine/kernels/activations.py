"""Quantization of activations, in torch's own operators: what the kernels do, bit for bit."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

_TINY = 1e-36  # a smaller magnitude's reciprocal would overflow; such a block counts as zero


def quantize_blocks(x: Tensor, block: int) -> tuple[Tensor, Tensor]:
    """Quantize to -127..127, each block of a token by its own largest magnitude.

    Args:
        x: (m, k) float32.
        block: how many columns share a scale.

    Returns:
        (m, blocks, block) int8, padded with zeros, and the scales (m, blocks, 1) float32; a block with a NaN or an
        infinity has zeros and the scale NaN.
    """
    blocks = functional.pad(x, (0, -x.shape[1] % block)).view(len(x), -1, block)
    largest = blocks.abs().amax(-1, keepdim=True)
    finite = torch.isfinite(largest)
    usable = finite & (largest >= _TINY)
    inverse = torch.where(usable, torch.full_like(largest, 127.0) / largest, 0.0)
    quantized = torch.round(torch.where(usable, blocks, 0.0) * inverse).to(torch.int8)
    scales = torch.where(usable, largest / 127.0, torch.where(finite, 0.0, torch.nan))
    return quantized, scales


def rounded_blocks(x: Tensor, block: int) -> Tensor:
    """What quantized activations stand for, (m, k) float64."""
    quantized, scales = quantize_blocks(x, block)
    return (quantized.to(torch.float64) * scales.to(torch.float64)).flatten(1)[:, : x.shape[1]]
