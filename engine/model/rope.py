"""Rotary position embedding: frequencies from the config, a table of cosines and sines, the rotation.

Powers, cosines, sines and logarithms are NumPy's in float64, rounded to float32, and the arithmetic between them is in
float32: an engine with torch and one without have the same tables, within a rounding of transformers'.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.errors import UnsupportedModel

Floats = NDArray[numpy.float32]
ROPE_TYPES = ("default", "linear", "dynamic", "yarn", "longrope", "llama3", "proportional")


@dataclass(frozen=True)
class Rope:
    """The frequencies of one kind of layer."""

    # Radians per position of each rotated pair; half as many as rotated channels
    frequencies: tuple[float, ...]
    attention_scaling: float = 1.0  # factor of cosines and sines (yarn, longrope)
    # Frequencies of LongRoPE in texts longer than ``original_context``, in place of ``frequencies``
    long_frequencies: tuple[float, ...] | None = None
    original_context: int | None = None  # longest text that LongRoPE's short frequencies serve
    # b in 1 + b log(1 + floor(position / query_context)), which multiplies queries (Llama 4); 0 for none
    query_beta: float = 0.0
    query_context: int = 1  # context that the factor counts in
    # Axis of each pair (0 time, 1 row, 2 column), where rows of pictures have three positions (M-RoPE); else empty
    axes: tuple[int, ...] = ()


#: Cosines and signed sines of some rows, each (n, 1, rotated channels), and (n, 1, 1) factors of queries or None.
Rotation = tuple[Tensor, Tensor, Tensor | None]


def read_rope(config: Mapping[str, Any], layer_type: str | None, partial: bool, head_dim: int | None = None) -> Rope:
    """Compute the frequencies as transformers does (modeling_rope_utils.py), but for the rounding of powers.

    Args:
        config: Config from `complete`.
        layer_type: Entry of ``rope_parameters`` to take if they differ by kind of layer, else None.
        partial: True if the family rotates only a part of each head.
        head_dim: Width of these layers' heads; None for the config's.

    Raises:
        UnsupportedModel: A kind of RoPE that Tenon does not know.
        KeyError: A parameter is missing.
        ValueError: A parameter makes no sense.
    """
    parameters = config["rope_parameters"][layer_type] if layer_type else config["rope_parameters"]
    kind = parameters.get("rope_type", "default")
    if kind not in ROPE_TYPES:
        raise UnsupportedModel(
            "Tenon has no RoPE of the type {kind}; the types are {names}.",
            kind=kind,
            names=", ".join(ROPE_TYPES),
        )
    if "mrope_section" in parameters and not parameters.get("mrope_interleaved"):
        raise UnsupportedModel("Tenon has no multimodal RoPE (mrope_section); choose the text-only model.")
    rope = _rope(config, parameters, kind, partial, head_dim or config["head_dim"])
    turning = rope.frequencies
    if kind == "proportional":
        turning = turning[: _proportional_pairs(parameters, 2 * len(turning))]
    numbers = (*turning, *(rope.long_frequencies or ()), rope.attention_scaling)
    if not rope.frequencies or not all(0 < number < math.inf for number in numbers):
        raise ValueError(f"the frequencies of {dict(parameters)!r}")
    return rope


@numpy.errstate(all="ignore")  # senseless values are refused by what comes of them
def _rope(config: Mapping[str, Any], parameters: Mapping[str, Any], kind: str, partial: bool, head_dim: int) -> Rope:
    fraction = parameters.get("partial_rotary_factor") or 1.0
    if fraction != 1.0 and not partial:
        raise UnsupportedModel(
            "Tenon has no partial_rotary_factor ({fraction}) in this architecture; choose another model.",
            fraction=fraction,
        )
    base = parameters["rope_theta"]
    size = 2 * _proportional_pairs(parameters, head_dim) if kind == "proportional" else int(head_dim * fraction)
    if size % 2 or not 2 <= size <= head_dim:
        raise ValueError(f"{size} of {head_dim} channels are rotated")
    if kind == "proportional":
        return _proportional(base, parameters, head_dim)
    steps = _counted(size, 2) / size
    powers = _powers(base, steps)
    plain = 1.0 / powers
    if kind in ("default", "dynamic"):  # dynamic scaling begins after the context, where Tenon ends
        return Rope(_floats(plain))
    if kind == "linear":
        return Rope(_floats(plain / parameters["factor"]))
    if kind == "llama3":
        return Rope(_floats(_llama3(plain, parameters)))
    if kind == "yarn":
        return _yarn(powers, parameters, config["max_position_embeddings"])
    original = int(parameters["original_max_position_embeddings"])
    short, long = (_stretched(powers, parameters[name]) for name in ("short_factor", "long_factor"))
    factor = parameters.get("factor") or config["max_position_embeddings"] / original
    scaling = parameters.get("attention_factor")
    if scaling is None:
        scaling = 1.0 if factor <= 1.0 else math.sqrt(1 + math.log(factor) / math.log(original))
    return Rope(_floats(short), float(scaling), _floats(long), original)


def _proportional_pairs(parameters: Mapping[str, Any], head_dim: int) -> int:
    return int((parameters.get("partial_rotary_factor") or 1.0) * head_dim // 2)


def _proportional(base: float, parameters: Mapping[str, Any], head_dim: int) -> Rope:
    """Return Gemma 4's RoPE: the first pairs turn as if the whole head did, and the others stand still."""
    pairs = _proportional_pairs(parameters, head_dim)
    turning = 1.0 / _powers(base, _counted(2 * pairs, 2) / head_dim) / parameters.get("factor", 1.0)
    return Rope((*_floats(turning), *(0.0,) * (head_dim // 2 - pairs)))


def _stretched(powers: Floats, factors: list[float]) -> Floats:
    """Return LongRoPE's frequencies (arXiv 2402.13753): every frequency has a divisor of its own."""
    if len(factors) != len(powers):
        raise ValueError(f"{len(factors)} factors of {len(powers)} frequencies")
    return 1.0 / (numpy.asarray(factors, numpy.float32) * powers)


def _llama3(plain: Floats, parameters: Mapping[str, Any]) -> Floats:
    """Return Llama 3.1's frequencies: long waves are stretched, short ones stay, those between are mixed."""
    factor, original = parameters["factor"], parameters["original_max_position_embeddings"]
    low, high = parameters["low_freq_factor"], parameters["high_freq_factor"]
    if bool in map(type, (factor, original, low, high)):
        raise TypeError("a switch in place of a number")
    waves = 2 * math.pi / plain
    stretched = numpy.where(waves > original / low, plain / factor, plain)
    share = (original / waves - low) / (high - low)
    mixed = (1 - share) * stretched / factor + share * stretched
    between = (waves >= original / high) & (waves <= original / low)
    return numpy.where(between, mixed, stretched)


def _yarn(powers: Floats, parameters: Mapping[str, Any], context: int) -> Rope:
    """Return YaRN (arXiv 2309.00071, section 3.2): frequencies that turn often stay, the others are interpolated."""
    base, original = parameters["rope_theta"], parameters["original_max_position_embeddings"]
    factor = parameters["factor"]
    if factor is None:
        factor = context / original
    pairs = len(powers)

    def scale(weight: float) -> float:
        return 1.0 if factor <= 1 else 0.1 * weight * math.log(factor) + 1.0

    def pair_that_turns(times: float) -> float:
        return 2 * pairs * math.log(original / (times * 2 * math.pi)) / (2 * math.log(base))

    low = pair_that_turns(parameters.get("beta_fast") or 32)
    high = pair_that_turns(parameters.get("beta_slow") or 1)
    if parameters.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, 2 * pairs - 1)
    if low == high:
        high += 0.001  # a ramp without a width divides by zero
    kept = 1 - numpy.clip((_counted(pairs) - low) / (high - low), 0, 1)
    frequencies = 1.0 / (factor * powers) * (1 - kept) + 1.0 / powers * kept
    scaling = parameters.get("attention_factor")
    if scaling is None:
        weight, whole = parameters.get("mscale"), parameters.get("mscale_all_dim")
        scaling = scale(weight) / scale(whole) if weight and whole else scale(1)
    return Rope(_floats(frequencies), float(scaling))


def _counted(end: int, step: int = 1) -> Floats:
    return numpy.arange(0, end, step, dtype=numpy.float32)


def _powers(base: float, exponents: NDArray[Any]) -> Floats:
    return numpy.power(float(base), exponents.astype(numpy.float64)).astype(numpy.float32)


def _floats(values: Floats) -> tuple[float, ...]:
    return tuple(values.astype(numpy.float32).tolist())


class RopeTable:
    """Cosines and sines of every position so far, made once in float32, kept in the activations' type, and grown.

    A row holds ``[cos, cos]`` and ``[-sin, sin]`` over the two halves of the rotated channels, so that the
    rotation of x = [a, b] is x * row_cos + [b, a] * row_sin.
    """

    def __init__(self, rope: Rope, dtype: torch.dtype, device: torch.device) -> None:
        self.rope = rope
        self.dtype = dtype
        self.device = device
        self.size = 2 * len(rope.frequencies)
        self._axes = torch.tensor(rope.axes + rope.axes, dtype=torch.long, device=device)
        self._short: tuple[Tensor, Tensor] = self._make(rope.frequencies, 0, 0)
        self._long: tuple[Tensor, Tensor] | None = None
        self._factors: Tensor | None = None

    def _make(self, frequencies: tuple[float, ...], first: int, last: int) -> tuple[Tensor, Tensor]:
        angles = numpy.arange(first, last, dtype=numpy.float32)[:, None] * numpy.asarray(frequencies, numpy.float32)

        def rows(turned: NDArray[Any], sign: int) -> Tensor:
            half = turned.astype(numpy.float32) * numpy.float32(self.rope.attention_scaling)
            return torch.from_numpy(numpy.concatenate((sign * half, half), -1)[:, None]).to(self.device, self.dtype)

        angles = angles.astype(numpy.float64)
        return rows(numpy.cos(angles), 1), rows(numpy.sin(angles), -1)

    def reserve(self, positions: int) -> None:
        """Make rows for positions 0 to ``positions`` - 1."""
        have = len(self._short[0])
        if positions <= have:
            return
        last = max(positions, 2 * have, 256)
        self._short = self._make(self.rope.frequencies, 0, last)
        if self.rope.long_frequencies is not None:
            self._long = self._make(self.rope.long_frequencies, 0, last)
        if self.rope.query_beta:
            logarithms = numpy.log(1.0 + numpy.arange(last) // self.rope.query_context).astype(numpy.float32)
            factors = 1 + self.rope.query_beta * logarithms
            self._factors = torch.from_numpy(factors)[:, None, None].to(self.device, self.dtype)

    def addresses(self, position: int, long_text: bool) -> tuple[int, int, int | None]:
        """Return the addresses of a reserved position's cosines, signed sines, and factors of queries, if any."""
        cosine, sine = self._long if long_text and self._long is not None else self._short
        offset, factors = position * self.size * cosine.itemsize, self._factors
        factor = None if factors is None else factors.data_ptr() + position * factors.itemsize
        return cosine.data_ptr() + offset, sine.data_ptr() + offset, factor

    def rows(self, positions: Tensor, long_text: bool) -> Rotation:
        """Return the rows of some positions.

        Args:
            positions: (n,) int64, each below what was reserved; or (3, n) by axis.
            long_text: True if the text is longer than ``original_context`` (LongRoPE).

        """
        cosine, sine = self._long if long_text and self._long is not None else self._short
        if positions.dim() > 1:
            each, channels = positions[self._axes].t(), torch.arange(self.size, device=self.device)
            return cosine[each, 0, channels][:, None], sine[each, 0, channels][:, None], None
        if len(positions) == 1:
            row = int(positions)
            one = slice(row, row + 1)
            return cosine[one], sine[one], None if self._factors is None else self._factors[one]
        return cosine[positions], sine[positions], None if self._factors is None else self._factors[positions]


def joined_rotations(parts: Sequence[Rotation]) -> Rotation:
    """Join rotations of rows that stand one after the other."""
    if len(parts) == 1:
        return parts[0]
    factors = [part[2] for part in parts if part[2] is not None]
    return (
        torch.cat([part[0] for part in parts]),
        torch.cat([part[1] for part in parts]),
        torch.cat(factors) if factors else None,
    )


def rotate(heads: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Rotate the first channels of each head; the others pass.

    Args:
        heads: (n, heads, head_dim).
        cosine: (n, 1, rotated) from `RopeTable.rows`.
        sine: Signed sines of the same shape.

    Returns:
        (n, heads, head_dim), the halves of the rotated channels turned into each other as in Llama.
    """
    rotated = cosine.shape[-1]
    turning = heads if rotated == heads.shape[-1] else heads[..., :rotated]
    first, second = turning.chunk(2, -1)
    turned = torch.addcmul(turning * cosine, torch.cat((second, first), -1), sine)
    return turned if turning is heads else torch.cat((turned, heads[..., rotated:]), -1)
