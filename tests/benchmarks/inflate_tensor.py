"""Widening one tensor so that the wider network computes what the narrow one computes.

The residual stream keeps its values in the first h of H channels and zeros in the others. So what writes to it
(embedding, ``o_proj``, ``down_proj``) is zero for the dead channels, and what reads it may hold anything there. A dead
head or a dead unit of the feed-forward network may compute anything, because the column that reads it is zero.

An RMS norm over H channels sees the mean of the squares shrink to h/H of what it was: with eps * h/H the quotient
grows by sqrt(H/h), and the weight shrinks by as much. A norm on query and key heads shares that eps without having been
widened; it is exact again when its input is smaller by sqrt(h/H) too, so the rows of ``q_proj`` and ``k_proj`` are.

Parts that may hold anything are random, so that the products are those of a real model. The numbers are uniform within
the root mean square of the row beside them: no row's largest magnitude grows, and so no int8 scale does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Axis:
    """One dimension of a widened tensor.

    Attributes:
        size: After widening.
        live: Places of the narrow tensor's entries, in their order; empty in a layer that is dead as a whole.
    """

    size: int
    live: Tensor

    def dead(self) -> Axis:
        """The same size with nothing of the narrow tensor in it."""
        return Axis(self.size, self.live[:0])


@dataclass(frozen=True)
class Extents:
    """The sizes of a network that tensors are shaped by. Names as in `ModelConfig`."""

    hidden_size: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate_size: int
    vocabulary_size: int


def network_axes(small: Extents, large: Extents) -> dict[str, Axis]:
    """The place of each kind of channel of a network in its inflated one, by the names that `RULES` use.

    A key-value head keeps its own query heads, in front of the new ones that share it.
    """
    group, wide_group = small.heads // small.kv_heads, large.heads // large.kv_heads
    heads = torch.arange(small.heads)
    heads = heads // group * wide_group + heads % group
    within = torch.arange(small.head_dim)

    def leading(size: int, live: int) -> Axis:
        return Axis(size, torch.arange(live))

    return {
        "vocabulary": leading(small.vocabulary_size, small.vocabulary_size),
        "hidden": leading(large.hidden_size, small.hidden_size),
        "queries": Axis(large.heads * large.head_dim, (heads[:, None] * small.head_dim + within).flatten()),
        "keys": leading(large.kv_heads * large.head_dim, small.kv_heads * small.head_dim),
        "head": leading(small.head_dim, small.head_dim),
        "units": leading(large.intermediate_size, small.intermediate_size),
    }


def gains(narrow: int, wide: int, query_key_norm: bool) -> dict[str, float]:
    """The factors on norm weights and, where queries and keys are normed too, on their projections.

    Args:
        narrow: The hidden size, h.
        wide: After widening, H.
        query_key_norm: True if they are.
    """
    norm = (narrow / wide) ** 0.5
    return {"norm": norm, "query_key": norm if query_key_norm else 1.0}


@dataclass(frozen=True)
class Rule:
    """Rule for widening one kind of tensor.

    Attributes:
        axes: Name of the axis of each dimension.
        dead_rows: True if rows (or entries of a vector) that are new are random, else zero.
        dead_columns: The same for the new columns of the old rows.
        gain: Name of the factor on the old values, None for 1.
    """

    axes: tuple[str, ...]
    dead_rows: bool = False
    dead_columns: bool = False
    gain: str | None = None


#: A norm's new weights multiply zeros; they are the mean of the old ones.
_NORM = Rule(("hidden",), gain="norm")

#: The part of a tensor's name behind its layer, and in front of ``.weight`` or ``.bias``.
RULES: dict[str, Rule] = {
    "embed_tokens": Rule(("vocabulary", "hidden")),
    "lm_head": Rule(("vocabulary", "hidden"), dead_columns=True),
    "norm": _NORM,
    "input_layernorm": _NORM,
    "post_attention_layernorm": _NORM,
    "self_attn.q_proj": Rule(("queries", "hidden"), True, True, "query_key"),
    "self_attn.k_proj": Rule(("keys", "hidden"), True, True, "query_key"),
    "self_attn.v_proj": Rule(("keys", "hidden"), True, True),
    "self_attn.o_proj": Rule(("hidden", "queries")),
    "self_attn.q_norm": Rule(("head",)),
    "self_attn.k_norm": Rule(("head",)),
    "mlp.gate_proj": Rule(("units", "hidden"), True, True),
    "mlp.up_proj": Rule(("units", "hidden"), True, True),
    "mlp.down_proj": Rule(("hidden", "units")),
}


class Widening:
    """Widens the tensors of one network.

    Args:
        axes: By the names that `RULES` use.
        gains: Likewise.
        amplitude: Of the random numbers, as a share of the root mean square of the row they stand in. Above 1 they may
            raise the row's scale in int8.
        generator: Of the random numbers.
    """

    def __init__(
        self,
        axes: Mapping[str, Axis],
        gains: Mapping[str, float],
        amplitude: float,
        generator: torch.Generator,
    ) -> None:
        self._axes = axes
        self._gains = gains
        self._amplitude = amplitude
        self._generator = generator

    def shape(self, rule: Rule, narrow: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of a tensor after widening; a bias has the rows' axis alone."""
        return tuple(self._axes[name].size for name in rule.axes[: len(narrow)])

    def narrow_shape(self, rule: Rule, narrow: tuple[int, ...]) -> tuple[int, ...]:
        """The shape that a tensor must have before widening."""
        return tuple(len(self._axes[name].live) for name in rule.axes[: len(narrow)])

    def widen(self, rule: Rule, narrow: Tensor, dead: bool = False) -> Tensor:
        """Widen one tensor.

        Args:
            rule: Of its kind.
            narrow: Matrix (out, in), or a bias or a norm's weight.
            dead: Put nothing of ``narrow`` into it but its typical magnitude: for a layer that adds nothing.

        Returns:
            float32.
        """
        narrow = narrow.float() * (self._gains[rule.gain] if rule.gain else 1.0)
        axes = [self._axes[name] for name in rule.axes[: narrow.dim()]]
        if dead and narrow.dim() == 2:
            axes = [axis.dead() for axis in axes]
        if narrow.dim() == 1:
            return self._vector(rule, narrow, axes[0], dead)
        rows, columns = axes
        typical = float(narrow.square().mean().sqrt())
        wide = self._random(rows.size, columns.size).mul_(typical if rule.dead_rows else 0.0)
        if len(rows.live):
            own = narrow.square().mean(1, keepdim=True).sqrt() if rule.dead_columns else torch.zeros(1, 1)
            old = self._random(len(rows.live), columns.size).mul_(own)
            old[:, columns.live] = narrow
            wide[rows.live] = old
        return wide

    def _vector(self, rule: Rule, narrow: Tensor, axis: Axis, dead: bool) -> Tensor:
        if len(rule.axes) == 1:  # a norm's weight
            wide = torch.full((axis.size,), float(narrow.mean()))
        elif rule.dead_rows:
            wide = self._random(axis.size).mul_(narrow.square().mean().sqrt())
        else:
            wide = torch.zeros(axis.size)
        if not dead:
            wide[axis.live] = narrow
        return wide

    def _random(self, *shape: int) -> Tensor:
        return torch.empty(shape).uniform_(-self._amplitude, self._amplitude, generator=self._generator)
