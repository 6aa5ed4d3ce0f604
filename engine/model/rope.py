"""Rotary position embedding: frequencies from the config, a table of cosines and sines, the rotation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from engine.errors import UnsupportedModel
from engine.sentences import say

ROPE_TYPES = ("default", "linear", "dynamic", "yarn", "longrope", "llama3")


@dataclass(frozen=True)
class Rope:
    """The frequencies of one kind of layer.

    Attributes:
        frequencies: Radians per position of each rotated pair; half as many as channels are rotated.
        attention_scaling: Multiplies cosines and sines (yarn, longrope).
        long_frequencies: LongRoPE: what replaces ``frequencies`` in texts longer than ``original_context``.
        original_context: LongRoPE: the longest text that the short frequencies serve.
    """

    frequencies: tuple[float, ...]
    attention_scaling: float = 1.0
    long_frequencies: tuple[float, ...] | None = None
    original_context: int | None = None


def read_rope(config: Any, layer_type: str | None, partial: bool) -> Rope:
    """Compute the frequencies as transformers does, with its own functions for the scaled kinds.

    Args:
        config: A transformers config.
        layer_type: The entry of ``rope_parameters`` to take where they differ by kind of layer, else None.
        partial: Whether the family rotates only a part of each head.

    Raises:
        UnsupportedModel: A kind of RoPE that Tenon does not know.
    """
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    parameters = config.rope_parameters[layer_type] if layer_type else config.rope_parameters
    kind = parameters.get("rope_type", "default")
    if kind not in ROPE_TYPES:
        raise UnsupportedModel(
            say(
                "Tenon has no RoPE of the type {kind}; the types are {names}.",
                kind=kind,
                names=", ".join(ROPE_TYPES),
            )
        )
    if "mrope_section" in parameters:
        raise UnsupportedModel(
            say("Tenon has no multimodal RoPE (mrope_section); choose the text-only model.")
        )
    fraction = parameters.get("partial_rotary_factor") or 1.0
    if fraction != 1.0 and not partial:
        raise UnsupportedModel(
            say("Tenon has no partial_rotary_factor ({fraction}) in this architecture.", fraction=fraction)
        )
    if kind == "default":
        head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        size = int(head_dim * fraction)
        steps = torch.arange(0, size, 2, dtype=torch.float) / size
        return Rope(_floats(1.0 / (parameters["rope_theta"] ** steps)))
    compute = ROPE_INIT_FUNCTIONS[kind]
    frequencies, scaling = compute(config, torch.device("cpu"), layer_type=layer_type)
    if kind != "longrope":
        return Rope(_floats(frequencies), float(scaling))
    original = int(parameters["original_max_position_embeddings"])
    long, _ = compute(config, torch.device("cpu"), seq_len=original + 1, layer_type=layer_type)
    return Rope(_floats(frequencies), float(scaling), _floats(long), original)


def _floats(values: Tensor) -> tuple[float, ...]:
    return tuple(values.float().tolist())


class RopeTable:
    """Cosines and sines of every position so far, made once and grown by doubling.

    A row holds ``[cos, cos]`` and ``[-sin, sin]`` over the two halves of the rotated channels, so that the
    rotation of x = [a, b] is x * row_cos + [b, a] * row_sin.

    Args:
        rope: The frequencies.
        dtype: Type of the rows: the activations'. The angles are always computed in float32.
        device: Where the rows live.
    """

    def __init__(self, rope: Rope, dtype: torch.dtype, device: torch.device) -> None:
        self.rope = rope
        self.dtype = dtype
        self.device = device
        self.size = 2 * len(rope.frequencies)
        self._short: tuple[Tensor, Tensor] = self._make(rope.frequencies, 0, 0)
        self._long: tuple[Tensor, Tensor] | None = None

    def _make(self, frequencies: tuple[float, ...], first: int, last: int) -> tuple[Tensor, Tensor]:
        positions = torch.arange(first, last, dtype=torch.float32)
        angles = positions[:, None] * torch.tensor(frequencies, dtype=torch.float32)
        cosine, sine = angles.cos() * self.rope.attention_scaling, angles.sin() * self.rope.attention_scaling
        rows = torch.cat((cosine, cosine), -1)[:, None], torch.cat((-sine, sine), -1)[:, None]
        return rows[0].to(self.device, self.dtype), rows[1].to(self.device, self.dtype)

    def reserve(self, positions: int) -> None:
        """Make rows for positions 0 to ``positions`` - 1."""
        have = len(self._short[0])
        if positions <= have:
            return
        last = max(positions, 2 * have, 256)
        self._short = self._make(self.rope.frequencies, 0, last)
        if self.rope.long_frequencies is not None:
            self._long = self._make(self.rope.long_frequencies, 0, last)

    def addresses(self, position: int, long_text: bool) -> tuple[int, int]:
        """Where the rows of a position are that was reserved: cosines and signed sines."""
        cosine, sine = self._long if long_text and self._long is not None else self._short
        offset = position * self.size * cosine.itemsize
        return cosine.data_ptr() + offset, sine.data_ptr() + offset

    def rows(self, positions: Tensor, long_text: bool) -> tuple[Tensor, Tensor]:
        """The rows of some positions.

        Args:
            positions: (n,) int64, each below what was reserved.
            long_text: LongRoPE: the text is longer than ``original_context``.

        Returns:
            Cosines and signed sines, each (n, 1, rotated channels).
        """
        cosine, sine = self._long if long_text and self._long is not None else self._short
        if len(positions) == 1:
            row = int(positions)
            return cosine[row : row + 1], sine[row : row + 1]
        return cosine[positions], sine[positions]


def rotate(heads: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Rotate the first channels of each head; the others pass.

    Args:
        heads: (n, heads, head_dim).
        cosine: (n, 1, rotated) from `RopeTable.rows`.
        sine: The same, signed.

    Returns:
        (n, heads, head_dim), the halves of the rotated channels turned into each other as in Llama.
    """
    rotated = cosine.shape[-1]
    turning = heads if rotated == heads.shape[-1] else heads[..., :rotated]
    first, second = turning.chunk(2, -1)
    turned = torch.addcmul(turning * cosine, torch.cat((second, first), -1), sine)
    return turned if turning is heads else torch.cat((turned, heads[..., rotated:]), -1)
