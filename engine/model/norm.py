"""Root-mean-square normalisation in four operations."""

from __future__ import annotations

import torch
from torch import Tensor


class Norm:
    """x / sqrt(mean(x^2) + eps) * w over the last dimension, computed in float32.

    With s the width, this is x * (w * sqrt(s)) / hypot(|x|, sqrt(s * eps)): a vector norm, a hypot, a product
    and a quotient, two thirds of the time of `torch.nn.functional.rms_norm` on a CPU.

    Args:
        weight: (s,) as stored.
        epsilon: eps.
        offset: Added to the stored weight (Gemma: 1).
        scale: Multiplies the result.

    Attributes:
        gain: (s,) float32, w * sqrt(s) times the scale.
    """

    __slots__ = ("_floor", "gain")

    def __init__(self, weight: Tensor, epsilon: float, offset: float = 0.0, scale: float = 1.0) -> None:
        size = weight.shape[-1]
        self.gain = (weight.float() + offset) * (scale * size**0.5)
        self._floor = torch.tensor((size * epsilon) ** 0.5, dtype=torch.float32, device=weight.device)

    def elsewhere(self, gain: Tensor) -> Norm:
        """The same norm with a copy of its gain, on the copy's device."""
        moved = Norm.__new__(Norm)
        moved.gain = gain
        moved._floor = torch.tensor(self._floor.item(), dtype=torch.float32, device=gain.device)
        return moved

    @property
    def size_bytes(self) -> int:
        """Bytes of the weight in memory: always float32."""
        return int(self.gain.nbytes)

    def __call__(self, rows: Tensor) -> Tensor:
        """Normalise (..., s); the result has the type of ``rows``."""
        wide = rows.float()
        length = torch.hypot(torch.linalg.vector_norm(wide, dim=-1, keepdim=True), self._floor)
        normalised: Tensor = (wide * self.gain).div_(length).to(rows.dtype)
        return normalised
