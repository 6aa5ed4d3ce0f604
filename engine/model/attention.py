"""Attention, and the masks that say which rows see which.

The query heads that share a key-value head are folded into query rows, n * group of them, so that grouped
attention is plain attention with fewer heads; the mask is repeated once per step and not once per layer.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

# Torch prefers cuDNN on Hopper, which plans for 20 to 40 ms for each new number of keys, which is for each token.
torch.backends.cuda.enable_cudnn_sdp(False)

#: Up to this many new rows heads are folded; with more, the repeated mask would cost more than folding saves.
FOLD_LIMIT_ROWS = 64
#: Scores of capped attention held at a time.
SCORES_LIMIT_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Paths:
    """Uncommitted rows that each new row sees, as a list: of texts side by side each row sees few of many."""

    depths: Tensor  # (n,) int32 number of rows that each row sees, its own included
    # (n, most) int32 indices of these rows in the order of the text; entries beyond a row's depth mean nothing
    rows: Tensor

    def mask(self, uncommitted: int) -> Tensor:
        """Return the paths as an (n, uncommitted) bool mask."""
        seen = torch.zeros(len(self.rows), uncommitted, dtype=torch.bool)
        for row, depth in enumerate(self.depths.tolist()):
            seen[row, self.rows[row, :depth].long()] = True
        return seen


@dataclass(frozen=True)
class Ends:
    """Uncommitted rows of a chain that each new row sees, as their number: those of a picture see each other."""

    counts: Tensor  # (n,) int32 number of first uncommitted rows that each row sees, at least up to its own
    windows_alone: bool = False  # True if layers that see all positions have a plain chain (Gemma 4)

    def mask(self, uncommitted: int) -> Tensor:
        """Return the same as an (n, uncommitted) bool mask."""
        return torch.arange(uncommitted) < self.counts[:, None]


@dataclass(frozen=True)
class StepMask:
    """Mask of one forward, for all layers of one window."""

    first_row: int  # cache rows before this one lie outside every new row's window
    # 0 or the type's lowest number; (n * group, rows) if ``folded``, (n, rows) otherwise; None if every new row
    # sees all rows, or if ``causal`` says it
    additive: Tensor | None
    folded: bool  # True if query heads are folded into rows
    causal: bool = False  # True if the n new rows are a chain and nothing is committed
    common_row: int = 0  # first of the committed rows from which on every new row sees all


def step_mask(
    positions: Tensor,
    count: int,
    tree: Tensor | None,
    length: int,
    window: int | None,
    dtype: torch.dtype,
    group: int,
) -> StepMask:
    """Build the mask of one forward.

    Args:
        positions: (m + n,) int64 positions of the uncommitted rows: m that stay from earlier forwards, then the new
            ones.
        count: n, the new rows.
        tree: (n, m + n) bool, True where new row i sees uncommitted row j, its own included; None for a chain that
            continues all of them.
        length: Committed rows, row r at position r.
        window: Positions that a row sees, its own included; None for all.
        dtype: Type of the scores.
        group: Query heads per key-value head.
    """
    new = positions[-count:]
    first = 0 if window is None else max(0, min(length, int(new.min()) - window + 1))
    folded = count <= FOLD_LIMIT_ROWS
    if len(positions) == 1:
        return StepMask(first, None, folded, common_row=first)
    if tree is None and length == 0 and len(positions) == count and (window is None or count <= window):
        return StepMask(0, None, False, causal=True)
    device = positions.device
    if tree is None:
        tree = torch.ones(count, len(positions), dtype=torch.bool, device=device)
        tree = tree.tril_(len(positions) - count)
    additive = torch.zeros(count, length - first + len(positions), dtype=dtype, device=device)
    # Not -inf: a block of a row that is masked completely must stay finite; it is scaled to an exact 0 later.
    lowest = torch.finfo(dtype).min
    common = first if window is None else max(first, int(new.max()) - window + 1)
    if window is None:
        additive[:, length - first :].masked_fill_(~tree, lowest)
    else:
        committed = torch.arange(first, length, device=device)
        distance = new[:, None] - torch.cat((committed, positions))
        hidden = distance >= window
        hidden[:, length - first :] |= ~tree
        additive.masked_fill_(hidden, lowest)
    if folded and group > 1:
        additive = additive.repeat_interleave(group, 0)
    return StepMask(first, additive, folded, common_row=common)


def attend(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: StepMask,
    scale: float,
    soft_cap: float | None,
    sinks: Tensor | None = None,
) -> Tensor:
    """Compute attention of new rows over cached rows.

    Args:
        queries: (n, heads, head_dim), rotated.
        keys: (kv_heads, rows, head_dim), the rows from ``mask.first_row`` on.
        values: Values, of the keys' shape.
        mask: Mask of this forward for the layer's window.
        scale: Multiplies the scores.
        soft_cap: c in c * tanh(score / c) before the mask (Gemma 2), None for none.
        sinks: (heads,) scores that take a share and give nothing (gpt-oss; Xiao et al. 2023, arXiv 2309.17453), or
            None.

    Returns:
        (n, heads * head_dim).
    """
    count, heads, _ = queries.shape
    kv_heads = len(keys)
    if soft_cap is not None or sinks is not None:
        additive = _causal(count, queries) if mask.causal else mask.additive
        mixed, sums = attend_part(queries, keys, values, additive, mask.folded, scale, soft_cap)
        if sinks is not None:
            mixed = (mixed * (sums - sinks[:, None]).sigmoid()).to(mixed.dtype)
        return mixed.flatten(1)
    if mask.folded:
        mixed = functional.scaled_dot_product_attention(
            _folded(queries, kv_heads)[None], keys[None], values[None], attn_mask=mask.additive, scale=scale
        )[0]
        return _unfolded(mixed, count).flatten(1)
    mixed = functional.scaled_dot_product_attention(
        queries.transpose(0, 1)[None],
        keys[None],
        values[None],
        attn_mask=mask.additive,
        is_causal=mask.causal,
        scale=scale,
        enable_gqa=heads != kv_heads,
    )[0]
    return mixed.transpose(0, 1).reshape(count, -1)


def attend_part(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    additive: Tensor | None,
    folded: bool,
    scale: float,
    soft_cap: float | None,
) -> tuple[Tensor, Tensor]:
    """Compute attention over a part of the rows that a forward sees; `merged` puts parts together.

    Args:
        queries: (n, heads, head_dim), rotated.
        keys: (kv_heads, rows, head_dim).
        values: Values, of the keys' shape.
        additive: Additive mask of these rows as in `StepMask`, or None if every new row sees all of them.
        folded: True if query heads are folded into rows.
        scale: Multiplies the scores.
        soft_cap: Soft cap of the scores, as in `attend`.

    Returns:
        (n, heads, head_dim), and (n, heads, 1) float32, the logarithm of the sum of exp(score).
    """
    count, heads, _ = queries.shape
    kv_heads = len(keys)
    if folded:
        mixed, sums = _scored(_folded(queries, kv_heads), keys, values, additive, scale, soft_cap)
        return _unfolded(mixed, count), _unfolded(sums, count)
    by_head, group = queries.transpose(0, 1), heads // kv_heads
    parts = [
        _scored(
            by_head[kv * group : (kv + 1) * group],
            keys[kv].expand(group, -1, -1),
            values[kv].expand(group, -1, -1),
            additive,
            scale,
            soft_cap,
        )
        for kv in range(kv_heads)
    ]
    mixed, sums = (torch.cat(part).transpose(0, 1) for part in zip(*parts, strict=True))
    return mixed, sums


def merged(one: tuple[Tensor, Tensor], other: tuple[Tensor, Tensor], sinks: Tensor | None = None) -> Tensor:
    """Merge attention over two parts from `attend_part`, each weighted by its share of the sum.

    Source: online softmax as in FlashAttention (Dao et al. 2022, section 3.1).

    Returns:
        (n, heads, head_dim) float32.
    """
    total = torch.logaddexp(one[1], other[1])
    if sinks is not None:
        total = torch.logaddexp(total, sinks[:, None])
    return one[0] * (one[1] - total).exp() + other[0] * (other[1] - total).exp()


def _folded(queries: Tensor, kv_heads: int) -> Tensor:
    """Fold (n, heads, d) into (kv_heads, n * group, d)."""
    count, _, head_dim = queries.shape
    return queries.reshape(count, kv_heads, -1, head_dim).transpose(0, 1).reshape(kv_heads, -1, head_dim)


def _unfolded(mixed: Tensor, count: int) -> Tensor:
    """Unfold (kv_heads, n * group, d) into (n, heads, d)."""
    kv_heads, _, width = mixed.shape
    return mixed.reshape(kv_heads, count, -1, width).transpose(0, 1).reshape(count, -1, width)


def _causal(count: int, like: Tensor) -> Tensor:
    lowest = torch.finfo(like.dtype).min
    return torch.full((count, count), lowest, dtype=like.dtype, device=like.device).triu_(1)


def _scored(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    additive: Tensor | None,
    scale: float,
    soft_cap: float | None,
) -> tuple[Tensor, Tensor]:
    """Compute attention by its scores, (heads, m, head_dim), in blocks of rows that bound the scores' memory."""
    step = max(1, SCORES_LIMIT_BYTES // (4 * len(keys) * keys.shape[1]))
    blocks = []
    for start in range(0, queries.shape[1], step):
        scores = torch.bmm(queries[:, start : start + step], keys.transpose(1, 2)).float()
        if soft_cap is None:
            scores *= scale
        else:
            scores = scores.mul_(scale / soft_cap).tanh_().mul_(soft_cap)
        if additive is not None:
            scores += additive[start : start + step]
        sums = scores.logsumexp(-1, keepdim=True)
        blocks.append((torch.bmm(scores.sub_(sums).exp_().to(values.dtype), values), sums))
    if len(blocks) == 1:
        return blocks[0]
    mixed, all_sums = (torch.cat(part, 1) for part in zip(*blocks, strict=True))
    return mixed, all_sums
