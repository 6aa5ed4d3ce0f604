"""Attention over latents: one vector is cached for each token, and each head's key and value are maps of it.

Source: DeepSeek-V2 (2024, arXiv 2405.04434), section 2.1. A head's score is q' K c = (K' q)' c, so a few rows map
their queries into the latent's space, meet the cached vectors as they are, and map the sums to values afterwards;
for many rows the cached vectors are mapped to each head's keys and values first if that is less arithmetic. Packed
layers on a CPU do the former for all rows, in the kernel library (``csrc/latents.c``).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from engine.model.attention import StepMask, attend, attend_part
from engine.model.config import Latent, ModelConfig
from engine.model.kv_cache import SeenRows
from engine.model.layer import LayerWeights
from engine.model.linear import JoinedLinear, Linear, LinearMap, rows_of
from engine.model.rope import Rotation, rotate

#: Epsilon of the norms of latents, whatever the model's other norms have.
LATENT_EPSILON = 1e-6


def attend_latents(
    config: ModelConfig,
    latent: Latent,
    weights: LayerWeights,
    index: int,
    rows: Tensor,
    rotation: Rotation | None,
    texts: Sequence[SeenRows],
) -> Tensor:
    """Compute attention of new rows over the latents of their texts, their own included; see `block.attention`.

    Returns:
        (n, heads * values), the input of the output map.
    """
    key_norm, key_up, value_up = weights.key_norm, weights.key_up, weights.value_up
    assert key_norm is not None, "the latent's"
    assert key_up is not None, "of latents"
    assert value_up is not None, "of latents"
    assert weights.qkv is not None
    heads, mapped = config.heads, weights.qkv(rows)
    widths = [mapped.shape[1] - latent.width, latent.rank, latent.rotated]
    queries, kept, turning = torch.split(mapped, widths, -1)
    if weights.query_up is not None:
        queries = weights.query_up(queries if weights.query_norm is None else weights.query_norm(queries))
    queries = queries.view(len(rows), heads, -1)
    turned = torch.cat((queries[..., latent.plain :], turning[:, None]), 1)
    if latent.interleaved:
        turned = turned.view(*turned.shape[:2], -1, 2).transpose(-1, -2).flatten(-2)
    if rotation is not None:
        turned = rotate(turned, rotation[0], rotation[1])
    new = torch.cat((key_norm(kept), turned[:, heads]), -1)
    plain, turned = queries[..., : latent.plain], turned[:, :heads]
    lifted: Tensor | None = None
    mixed, absorbed, start = [], [], 0
    for text in texts:
        own = slice(start, start + text.count)
        start = own.stop
        seen = text.cache.append_latents(index, new[own])
        if not text.mask.folded and latent.expands(text.count, len(seen)):
            own_queries = torch.cat((plain[own], turned[own]), -1)
            mixed.append(_expanded(config, latent, key_up, value_up, own_queries, seen, text.mask))
            continue
        if lifted is None:
            lifted = torch.cat((_by_head(key_up, plain), turned), -1)
        absorbed.append((len(mixed), text.count))
        mixed.append(_absorbed(latent, lifted[own].to(seen.dtype), seen, text.mask, config.attention_scale))
    if absorbed:
        found = [mixed[at] for at, _ in absorbed]
        sums = found[0] if len(found) == 1 else torch.cat(found)
        values = _by_head(value_up, sums.to(rows.dtype)).flatten(1)
        own_values = torch.split(values, [count for _, count in absorbed])
        for (at, _), found_values in zip(absorbed, own_values, strict=True):
            mixed[at] = found_values
    return mixed[0] if len(mixed) == 1 else torch.cat(mixed)


def _absorbed(latent: Latent, queries: Tensor, seen: Tensor, mask: StepMask, scale: float) -> Tensor:
    """Return (n, heads, rank) sums of latents, for queries (n, heads, width) in the latents' space."""
    additive = mask.additive
    if mask.causal:
        count = len(queries)
        lowest = torch.finfo(queries.dtype).min
        additive = torch.full((count, count), lowest, dtype=queries.dtype, device=queries.device).triu_(1)
    found, _ = attend_part(queries, seen[None], seen[None, :, : latent.rank], additive, mask.folded, scale, None)
    return found


def _expanded(
    config: ModelConfig,
    latent: Latent,
    key_up: LinearMap,
    value_up: LinearMap,
    queries: Tensor,
    seen: Tensor,
    mask: StepMask,
) -> Tensor:
    """Return (n, heads * values) of queries (n, heads, query width) over each head's own keys and values, by head."""
    kept, turned = torch.split(seen, [latent.rank, latent.rotated], -1)
    kept, mixed = kept.to(queries.dtype), []
    own_maps = zip(_of_heads(key_up, config.heads), _of_heads(value_up, config.heads), strict=True)
    for head, (to_latent, to_values) in enumerate(own_maps):
        matrix = rows_of(to_latent, torch.arange(latent.rank, device=kept.device)).to(kept.dtype)
        keys = torch.cat(((kept @ matrix).to(seen.dtype), turned), -1)
        values = to_values(kept).to(seen.dtype)
        own = queries[:, head : head + 1].to(seen.dtype)
        mixed.append(attend(own, keys[None], values[None], mask, config.attention_scale, None))
    return torch.cat(mixed, 1).to(queries.dtype)


def _of_heads(linear: LinearMap, heads: int) -> Sequence[LinearMap]:
    """Return the matrix of each head."""
    if isinstance(linear, JoinedLinear):
        return linear.parts
    if isinstance(linear, Linear):
        return [Linear(own) for own in linear.weight.chunk(heads)]
    return (linear,)


def _by_head(linear: LinearMap, rows: Tensor) -> Tensor:
    """Map each head's rows by its own matrix: (n, heads, in) to (n, heads, out)."""
    heads = rows.shape[1]
    if isinstance(linear, Linear):
        matrices = linear.weight.view(heads, -1, rows.shape[2])
        return torch.bmm(rows.transpose(0, 1), matrices.transpose(1, 2)).transpose(0, 1)
    maps = _of_heads(linear, heads)
    return torch.stack([one(rows[:, head]) for head, one in enumerate(maps)], 1)
