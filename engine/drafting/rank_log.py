"""Ranks of the true tokens in each of a draft's heads, and what any tree would have come to with them.

Source: Ghidorah (Wei et al. 2025), section III-C: one pass over calibration replies; all else about trees is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.drafting.medusa_heads import MedusaNetwork
from engine.kernels.sampling import MOST

#: A rank of what is no node of any tree: the token is less likely, is not drafted, or the reply has ended.
NO_RANK = MOST
Path = tuple[int, ...]
"""A node of a tree: the rank of each token from the root on, 0 for the likeliest."""
# Positions whose logits are held at once.
_PIECE = 32


@dataclass(frozen=True)
class RankLog:
    """A log of calibration replies.

    Attributes:
        replies: (n - 1, K) each, uint8, of a reply of n tokens: for each token that may be a round's root, the ranks of
            the K tokens behind it in the heads that guess them; `NO_RANK` for none.
    """

    replies: tuple[NDArray[numpy.uint8], ...]

    @property
    def heads(self) -> int:
        """K."""
        return int(self.replies[0].shape[1])

    @cached_property
    def accuracies(self) -> NDArray[numpy.float64]:
        """(K, ranks) the share of places where a head's token has a rank; none counts more than the ranks before it."""
        ranks = numpy.concatenate(self.replies)
        counts = [numpy.bincount(column, minlength=NO_RANK + 1)[:NO_RANK] for column in ranks.T]
        return numpy.minimum.accumulate(numpy.stack(counts) / max(1, len(ranks)), axis=1)

    def lengths(self, tree: Iterable[Path]) -> list[list[int]]:
        """Tokens of a round that begins at each place of each reply, the target's own included."""
        inside = set(tree)
        found = []
        for ranks in self.replies:
            rows = []
            for path in map(tuple, ranks.tolist()):
                depth = 0
                while depth < len(path) and path[: depth + 1] in inside:
                    depth += 1
                rows.append(depth + 1)
            found.append(rows)
        return found

    def tau(self, tree: Iterable[Path]) -> float:
        """Tokens of a round over all replies, each replayed from its beginning."""
        return replay(self.lengths(tree))


def replay(lengths: Sequence[Sequence[int]]) -> float:
    """Mean of the rounds that follow each other where a round at each place takes so many tokens."""
    tokens = rounds = 0
    for reply in lengths:
        place, end = 0, len(reply)
        while place < end:
            place += reply[place]
            rounds += 1
        tokens += end  # a reply ends within its last round
    return tokens / max(1, rounds)


def ranks_of(network: MedusaNetwork, hidden: Tensor, tokens: Sequence[int]) -> NDArray[numpy.uint8]:
    """The log of one reply.

    Args:
        network: The heads.
        hidden: (n - 1, h) the target's hidden rows behind its final norm, from the one that the reply's first token
            comes from; on the heads' device.
        tokens: (n) the reply.

    Returns:
        (n - 1, K), as in `RankLog`.
    """
    heads = network.heads
    wanted = torch.tensor(tokens, dtype=torch.long)
    own = wanted
    if network.target_ids is not None:
        ids = network.target_ids.cpu()
        table = torch.full((1 + int(max(ids.max(), wanted.max())),), -1)
        own = table.index_put((ids,), torch.arange(len(ids)))[wanted]
    found = torch.full((len(hidden), heads), NO_RANK, dtype=torch.uint8)
    for start in range(0, len(hidden), _PIECE):
        rows = hidden[start : start + _PIECE]
        logits = network.logits(rows, heads).view(heads, len(rows), -1)
        for head in range(min(heads, len(own) - start - 1)):
            true = own[start + 1 + head : start + 1 + head + len(rows)]
            known = (true >= 0).nonzero().squeeze(1)
            said = logits[head, known.to(logits.device)]
            above = said > said.gather(1, true[known].to(said.device)[:, None])
            found[start + known, head] = above.sum(1).clamp_max(NO_RANK).to(torch.uint8).cpu()
    return found.numpy()
