"""The two halves of a transformer block, over weights and cache: attention and the feed-forward network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from engine.model.attention import StepMask, attend
from engine.model.config import ModelConfig
from engine.model.kv_cache import KVCache
from engine.model.layer import LayerWeights
from engine.model.linear import LinearMap
from engine.model.mixture import mix
from engine.model.rope import rotate

#: Cosines and signed sines of the new rows, from `RopeTable.rows`.
Rotation = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class SeenRows:
    """New rows of one text, which stand behind each other among a forward's.

    Attributes:
        count: Their number, n.
        mask: Rows that each of them sees.
        cache: Has room for n rows behind the committed ones; they are written there.
    """

    count: int
    mask: StepMask
    cache: KVCache


def attention(
    config: ModelConfig,
    weights: LayerWeights,
    index: int,
    rows: Tensor,
    rotation: Rotation | None,
    texts: Sequence[SeenRows],
) -> Tensor:
    """Attention of new rows over the caches of their texts, their own keys and values included.

    Args:
        config: Sizes of the block.
        weights: Its weights.
        index: Its layer in the cache.
        rows: (n, in) what queries, keys and values are mapped from, normalised already.
        rotation: Of the new rows; None where nothing is rotated.
        texts: Those of the rows, in their order.

    Returns:
        (n, h), before the residual sum.
    """
    heads, turning = config.heads, config.heads + config.kv_heads
    qkv = weights.qkv(rows).view(len(rows), turning + config.kv_heads, config.head_dim)
    turned = qkv[:, :turning]
    if weights.query_norm is not None and weights.key_norm is not None:
        turned = torch.cat((weights.query_norm(qkv[:, :heads]), weights.key_norm(qkv[:, heads:turning])), 1)
    if rotation is not None:
        turned = rotate(turned, *rotation)
    mixed, start = [], 0
    for text in texts:
        own = slice(start, start + text.count)
        mixed.append(
            _attended(config, index, turned[own, :heads], turned[own, heads:], qkv[own, turning:], text)
        )
        start = own.stop
    together = mixed[0] if len(mixed) == 1 else torch.cat(mixed)
    return weights.output(together.to(rows.dtype))


def _attended(
    config: ModelConfig, index: int, queries: Tensor, new_keys: Tensor, new_values: Tensor, text: SeenRows
) -> Tensor:
    mask, cache = text.mask, text.cache
    keys, values = cache.append(index, new_keys, new_values, mask.first_row)
    queries = queries.to(keys.dtype)
    scale, soft_cap = config.attention_scale, config.attention_soft_cap
    if cache.far_rows is None:
        return attend(queries, keys, values, mask, scale, soft_cap)
    return cache.far_rows.attend(cache, index, queries, keys, values, mask, scale, soft_cap)


def feed_forward(config: ModelConfig, weights: LayerWeights, rows: Tensor) -> Tensor:
    """The feed-forward network of (n, h) normalised rows, its experts included, before the residual sum."""

    def network(gate_up: LinearMap, down: LinearMap, some: Tensor) -> Tensor:
        return _gated(config, gate_up, down, some)

    mapped = None
    if weights.gate_up is not None and weights.down is not None:
        mapped = network(weights.gate_up, weights.down, rows)
    experts = weights.experts
    if experts is None or config.mixture is None:
        assert mapped is not None, "a layer has a network or experts"
        return mapped
    mixed = mix(config.mixture, experts, rows, network)
    if mapped is None:
        return mixed
    return mixed + (mapped if experts.shared_gate is None else mapped * experts.shared_gate(rows).sigmoid())


def _gated(config: ModelConfig, gate_up: LinearMap, down: LinearMap, rows: Tensor) -> Tensor:
    gate, up = gate_up(rows).chunk(2, -1)
    match config.activation:
        case "silu":
            gate = functional.silu(gate)
        case "gelu_tanh":
            gate = functional.gelu(gate, approximate="tanh")
        case _:
            gate = functional.gelu(gate)
    return down(gate.mul_(up))


def block(
    config: ModelConfig,
    weights: LayerWeights,
    index: int,
    hidden: Tensor,
    rotation: Rotation | None,
    texts: Sequence[SeenRows],
    rows: Tensor | None = None,
) -> Tensor:
    """A whole block: attention, then the feed-forward network, each added to the residual stream.

    Arguments are those of `attention`, but ``hidden`` (n, h) is the residual stream, and ``rows`` (n, in) are mapped by
    attention in its place, normalised already.

    Returns:
        (n, h).
    """
    if rows is None:
        rows = hidden if weights.attention_norm is None else weights.attention_norm(hidden)
    mixed = attention(config, weights, index, rows, rotation, texts)
    if weights.attention_end_norm is not None:
        mixed = weights.attention_end_norm(mixed)
    hidden = torch.add(hidden, mixed, alpha=config.residual_scale)
    mapped = feed_forward(config, weights, weights.mlp_norm(hidden))
    if weights.mlp_end_norm is not None:
        mapped = weights.mlp_end_norm(mapped)
    return torch.add(hidden, mapped, alpha=config.residual_scale)
