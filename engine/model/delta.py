"""Gated DeltaNet and Mamba-2: the rows of a chunk, given its state, by torch's operators.

Source: Yang et al. 2024, "Gated delta networks" (arXiv 2412.06464), section 3.3, and Dao and Gu 2024, "Transformers
are SSMs" (arXiv 2405.21060), section 6; chunks are paths of a tree here.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from engine.model.config import DeltaNet

_LENGTH_EPSILON = 1e-6


@dataclass(frozen=True)
class ChunkRows:
    """Rows of a chunk as its later rows need them."""

    keys: Tensor  # (n, key_heads, key_dim) of length 1
    values: Tensor  # (n, heads, value_dim): what each row adds to the state with its key
    decays: Tensor  # (n, heads) logarithm of the decay since the chunk's beginning, the row's own included

    def __getitem__(self, rows: Tensor | slice) -> ChunkRows:
        """Return some of the rows."""
        return ChunkRows(self.keys[rows], self.values[rows], self.decays[rows])


@dataclass(frozen=True)
class NewRows:
    """New rows as their maps and the convolution give them, float32."""

    queries: Tensor  # (n, key_heads, key_dim)
    keys: Tensor  # (n, key_heads, key_dim)
    values: Tensor  # (n, heads, value_dim)
    writes: Tensor  # (n, heads) share of a value that is written
    decays: Tensor  # (n, heads) logarithm of each row's own decay

    def __getitem__(self, rows: Tensor | slice) -> NewRows:
        """Return some of the rows."""
        return NewRows(self.queries[rows], self.keys[rows], self.values[rows], self.writes[rows], self.decays[rows])

    def normed(self) -> NewRows:
        """Return the rows with queries and keys of length 1, queries scaled for their products."""
        scale = self.queries.shape[-1] ** -0.5
        return NewRows(_normed(self.queries) * scale, _normed(self.keys), self.values, self.writes, self.decays)


@dataclass(frozen=True)
class Sight:
    """Rows of one chunk that new rows of that chunk see."""

    seen: Tensor | None  # (n, e) bool, True where new row i sees earlier row j; None if each sees all
    tree: Tensor  # (n, n) bool, True where new row i sees new row j, its own included
    last: Tensor  # (n,) index of the last earlier row that each sees; -1 for none


def chain(earlier: int, count: int, device: torch.device) -> Sight:
    """Return the sight of rows that follow one another."""
    tree = torch.ones(count, count, dtype=torch.bool, device=device).tril_()
    return Sight(None, tree, torch.full((count,), earlier - 1, device=device))


def added(delta: DeltaNet, state: Tensor, rows: ChunkRows) -> Tensor:
    """Return the (heads, key_dim, value_dim) state after a chunk's rows, given the one before."""
    last = rows.decays[-1]
    keys = _by_head(delta, rows.keys) * (last - rows.decays).exp()[..., None]
    return state * last.exp()[:, None, None] + torch.einsum("nhk,nhv->hkv", keys, rows.values)


def solved(delta: DeltaNet, state: Tensor, earlier: ChunkRows, new: NewRows, sight: Sight) -> tuple[Tensor, ChunkRows]:
    """Compute new rows of one chunk.

    Args:
        delta: Sizes.
        state: (heads, key_dim, value_dim) at the chunk's beginning.
        earlier: Rows of the chunk that are known.
        new: New rows, parents before children, from `NewRows.normed` unless they are Mamba-2's.
        sight: Rows that each of them sees.

    Returns:
        (n, heads, value_dim) results, and the new rows as later ones need them.
    """
    count, before = len(new.keys), len(earlier.keys)
    decays = torch.einsum("ij,jh->ih", sight.tree.float(), new.decays)
    if before:
        begun = earlier.decays[sight.last.clamp(min=0)]
        decays = decays + begun.masked_fill_((sight.last < 0)[:, None], 0.0)
    keys, queries = (_by_head(delta, part).transpose(0, 1) for part in (new.keys, new.queries))
    all_keys = torch.cat((_by_head(delta, earlier.keys).transpose(0, 1), keys), 1)
    all_decays = torch.cat((earlier.decays, decays)).t()
    seen = torch.ones(count, before, dtype=torch.bool, device=decays.device) if sight.seen is None else sight.seen
    hidden = ~torch.cat((seen, sight.tree), 1)
    stays = (decays.t()[:, :, None] - all_decays[:, None]).masked_fill_(hidden, -torch.inf).exp_()
    since = decays.t().exp()[..., None]
    writes = new.writes.t()[..., None]
    known, values = earlier.values.transpose(0, 1), new.values.transpose(0, 1)
    if delta.corrects:
        overlap = torch.bmm(keys, all_keys.transpose(1, 2)) * stays * writes
        wanted = writes * (values - since * torch.bmm(keys, state)) - torch.bmm(overlap[..., :before], known)
        # The row's own overlap is on the diagonal, which is not read.
        values = torch.linalg.solve_triangular(overlap[..., before:], wanted, upper=False, unitriangular=True)
    else:
        values = writes * values
    attended = torch.bmm(queries, all_keys.transpose(1, 2)) * stays
    results = since * torch.bmm(queries, state) + torch.bmm(attended, torch.cat((known, values), 1))
    return results.transpose(0, 1), ChunkRows(new.keys, values.transpose(0, 1), decays)


def _by_head(delta: DeltaNet, keys: Tensor) -> Tensor:
    """Return (n, key_heads, d) as (n, heads, d), each value head's own."""
    each = delta.heads // delta.key_heads
    return keys.repeat(1, each, 1) if delta.tiled else keys.repeat_interleave(each, 1)


def _normed(rows: Tensor) -> Tensor:
    return rows * torch.rsqrt((rows * rows).sum(-1, keepdim=True) + _LENGTH_EPSILON)
