"""Decoder layers that the kernel library computes in one call each.

Torch needs some fifteen operators for a layer, each with its own start and end of threads; here it is one call. At one
token that saves a quarter of a forward's time, at 64 a third. A row's result depends on its own path alone, bit for
bit, so that speculation changes nothing in the packed formats either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.kernels import layer as kernel
from engine.kernels import library
from engine.kernels.library import Matrix
from engine.model.attention import Paths
from engine.model.config import ModelConfig
from engine.model.layer import LayerWeights
from engine.model.linear import JoinedLinear, PackedLinear
from engine.model.norm import Norm


@dataclass(frozen=True)
class FusedStep:
    """One forward's rows, for the layers of one window and one rotation; holds what the structure points at."""

    step: kernel.Step
    held: tuple[Tensor, ...]


class FusedLayer:
    """One layer's weights for the kernel library, all its matrices packed; see `made_of`."""

    def __init__(self, config: ModelConfig, weights: LayerWeights, matrices: Mapping[str, Matrix]) -> None:
        self._weights = weights  # the structure holds addresses only
        hidden, head_dim = config.hidden_size, config.head_dim
        self.structure = kernel.Layer(
            hidden=hidden,
            heads=config.heads,
            kv_heads=config.kv_heads,
            head_dim=head_dim,
            attention_norm=_gain(weights.attention_norm),
            mlp_norm=_gain(weights.mlp_norm),
            query_norm=_gain(weights.query_norm),
            key_norm=_gain(weights.key_norm),
            attention_end_norm=_gain(weights.attention_end_norm),
            mlp_end_norm=_gain(weights.mlp_end_norm),
            **matrices,
            norm_floor=hidden * config.norm_epsilon,
            head_norm_floor=head_dim * config.norm_epsilon,
            scale=config.attention_scale,
            soft_cap=config.attention_soft_cap or 0.0,
            activation=kernel.ACTIVATIONS[config.activation],
        )

    @classmethod
    def made_of(cls, config: ModelConfig, weights: LayerWeights, cache: torch.dtype) -> FusedLayer | None:
        """The layer, or None where the library cannot compute it with a cache of this type."""
        matrices = _matrices(weights)
        fits = cache in (torch.bfloat16, torch.int8) and can_fuse(config)
        return cls(config, weights, matrices) if fits and matrices is not None else None

    def __call__(self, step: FusedStep, cache: Tensor, hidden: Tensor) -> None:
        """Run the layer over hidden (n, h) float32 in place; cache is `KVCache.store` of this layer."""
        kernel.forward(self.structure, step.step, cache, hidden)


def can_fuse(config: ModelConfig) -> bool:
    """True if the library can compute layers of this model, provided that their matrices are packed."""
    return (
        library.available() is not None
        and config.head_dim % kernel.HEAD_DIM_MULTIPLE == 0
        and config.activation in kernel.ACTIVATIONS
    )


def fused_step(
    count: int,
    mask: Tensor | Paths | None,
    cache: Tensor,
    length: int,
    uncommitted: int,
    window: int | None,
    rotation: tuple[Tensor, Tensor] | None,
) -> FusedStep:
    """Describe one forward.

    Args:
        count: New rows, n.
        mask: (n, uncommitted + n) bool, True where new row i sees uncommitted row j, its own included, or the same as
            paths; None for a chain that continues all of them.
        cache: Some layer's `KVCache.store`, for its shape and type.
        length: Committed rows.
        uncommitted: Uncommitted rows of earlier forwards that stay.
        window: Positions that a row sees, its own included; None for all.
        rotation: Cosines and signed sines, each (n, 1, rotated channels) float32; None where nothing is rotated.
    """
    held = []
    ancestors = cosine = sine = None
    if mask is None:
        depths = _chain(uncommitted + count)[uncommitted:]
    elif isinstance(mask, Paths):
        depths, ancestors = mask.depths, mask.rows
        held.append(ancestors)
    else:
        depths = mask.sum(1, dtype=torch.int32)
        # A stable sort brings the visible rows to the front, in order.
        order = mask.to(torch.int8).argsort(dim=1, descending=True, stable=True)
        ancestors = order[:, : int(depths.max())].to(torch.int32).contiguous()
        held.append(ancestors)
    held.append(depths)
    if rotation is not None:
        cosine, sine = (part.contiguous() for part in rotation)
        held += [cosine, sine]
    step = kernel.Step(
        m=count,
        length=length,
        pending=uncommitted,
        head_stride=cache.stride(1) * cache.itemsize,
        window=window or 0,
        rotated=0 if cosine is None else cosine.shape[-1],
        ancestors_stride=0 if ancestors is None else ancestors.shape[1],
        depths=depths.data_ptr(),
        ancestors=None if ancestors is None else ancestors.data_ptr(),
        cosine=None if cosine is None else cosine.data_ptr(),
        sine=None if sine is None else sine.data_ptr(),
        cache_type=kernel.CACHE_8_BITS if cache.dtype == torch.int8 else 0,
    )
    return FusedStep(step, tuple(held))


_depths = torch.arange(1, 1025, dtype=torch.int32)


def _chain(count: int) -> Tensor:
    """1 to at least ``count``."""
    global _depths
    if len(_depths) < count:
        _depths = torch.arange(1, 2 * count + 1, dtype=torch.int32)
    return _depths


def _gain(norm: Norm | None) -> int | None:
    return None if norm is None else norm.gain.data_ptr()


def _matrices(weights: LayerWeights) -> dict[str, Matrix] | None:
    """The layer's matrices by the kernel's names, None where one is dense. Of a fused one the first holds all rows."""
    found: dict[str, Matrix] = {}
    for names, linear in (
        (("q", "k", "v"), weights.qkv),
        (("output",), weights.output),
        (("gate", "up"), weights.gate_up),
        (("down",), weights.down),
    ):
        parts = linear.parts if isinstance(linear, JoinedLinear) else (linear,)
        for name, part in zip(names, parts, strict=False):
            if not isinstance(part, PackedLinear):
                return None
            found[name] = part.structure
    return found
