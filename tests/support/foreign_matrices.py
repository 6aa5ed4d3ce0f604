"""Matrices as AWQ, GPTQ and MLX store them: packed from codes, and their values by each format's own formula."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)


@dataclass(frozen=True)
class Matrix:
    """Codes (n, k) with a scale and a zero point, or an offset, for each group (n, g)."""

    codes: Tensor
    scales: Tensor
    zeros: Tensor
    bits: int
    groups: Tensor  # (k,), the group of each column

    def exact(self) -> Tensor:
        """(code - zero) * scale, as AutoAWQ and GPTQModel have it before they round it to half precision."""
        return (self.codes - self.zeros[:, self.groups]) * self.scales.float()[:, self.groups]

    def awq(self) -> dict[str, Tensor]:
        return {
            "qweight": pack(self.codes.t(), self.bits, AWQ_ORDER),
            "qzeros": pack(self.zeros.t(), self.bits, AWQ_ORDER),
            "scales": self.scales.t().contiguous(),
        }

    def gptq(self, zeros_less_one: bool) -> dict[str, Tensor]:
        order = tuple(range(32 // self.bits))
        ones = sum(1 << place for place in range(0, 32, self.bits)) if zeros_less_one else 0
        return {
            "qweight": pack(self.codes, self.bits, order).t().contiguous(),
            "qzeros": pack(self.zeros.t(), self.bits, order) - ones,  # a borrow goes into the next field
            "scales": self.scales.t().contiguous(),
            "g_idx": self.groups.int(),
        }


def quantized(weight: Tensor, group: int, bits: int, symmetric: bool = False, shuffled: bool = False) -> Matrix:
    """Round a matrix to codes; a shuffled one has its columns in groups by the order of a permutation."""
    random = torch.Generator().manual_seed(weight.numel())
    most, count = (1 << bits) - 1, weight.shape[1] // group
    order = torch.randperm(weight.shape[1], generator=random) if shuffled else torch.arange(weight.shape[1])
    grouped = weight[:, order].view(len(weight), count, group)
    if symmetric:
        scales = grouped.abs().amax(-1) * 2 / most
        zeros = torch.full(scales.shape, (most + 1) // 2)
    else:
        least, largest = grouped.amin(-1).clamp(max=0), grouped.amax(-1).clamp(min=0)
        scales = (largest - least) / most
        zeros = (-least / scales).round().clamp(0, most).long()
    groups = torch.empty_like(order)
    groups[order] = torch.arange(weight.shape[1]) // group
    scales = scales.half()
    codes = (weight / scales[:, groups].float()).round() + zeros[:, groups]
    return Matrix(codes.clamp(0, most).long(), scales, zeros, bits, groups)


def pack(codes: Tensor, bits: int, order: tuple[int, ...]) -> Tensor:
    """Pack (r, c) into words (r, c * bits / 32) int32: column ``order[i]`` of as many goes into field i."""
    fields = codes.long().reshape(len(codes), -1, len(order))[..., list(order)]
    words = (fields << bits * torch.arange(len(order))).sum(dim=-1)
    return words.where(words < 1 << 31, words - (1 << 32)).int()


def mlx_packed(codes: Tensor, bits: int) -> Tensor:
    """Pack (n, k) as MLX does: a stream of bits, lowest first, in words (n, k * bits / 32) int32."""
    stream = (codes[..., None] >> torch.arange(bits) & 1).flatten(1).view(len(codes), -1, 32)
    words = (stream.long() << torch.arange(32)).sum(dim=-1)
    return words.where(words < 1 << 31, words - (1 << 32)).int()
