"""Count of trees for Medusa heads on a target's replies.

Source: Ghidorah (Wei et al. 2025), section III-C.1. The replies are read once for the ranks of their tokens in the
heads, from which the tokens of a round are counted for any tree; trees of the heads' own probabilities are counted too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import torch
from torch import Tensor

from engine.drafting.head_calibration import HeadCalibration
from engine.drafting.medusa_draft import MedusaDraft, MedusaDrafter
from engine.drafting.medusa_heads import MedusaNetwork, load_medusa
from engine.drafting.rank_log import RankLog, ranks_of, replay
from engine.drafting.searched_tree import WIDTHS, greedy_tree, search_tree
from engine.kernels import library
from engine.model.decoder import Decoder
from engine.model.token_tree import ROOT, DraftShape
from engine.training.draft.features import Example, features_of
from engine.training.draft.loss import TOPS
from engine.weights.head_checkpoint import HeadCheckpoint

_CPU = torch.device("cpu")
Replies = Sequence[tuple[Tensor, tuple[int, ...]]]
"""Hidden rows, (n - 1, h), and tokens, n, of each reply, as `ranks_of` takes them."""


@dataclass(frozen=True)
class Count:
    """Count of trees on replies.

    Attributes:
        calibration: For the heads.
        greedy: Tokens of a round by `WIDTHS`, with the nodes of the largest products of accuracies.
        searched: The same with the best tree that was found for each width, whether a larger one begins with it or not.
    """

    calibration: HeadCalibration
    greedy: tuple[float, ...]
    searched: tuple[float, ...]

    def lines(self) -> list[str]:
        """Tables for a person."""
        counted = self.calibration
        columns = ("greedy", "searched", "kept", "grown")
        rows = zip(WIDTHS, self.greedy, self.searched, counted.searched, counted.grown, strict=True)
        return [
            "head" + "".join(f"{f'top {top}':>10}" for top in TOPS),
            *(
                f"{head:>4}" + "".join(f"{100 * share:>8.1f} %" for share in shares)
                for head, shares in enumerate(counted.accuracies, 1)
            ),
            "rows" + "".join(f"{name:>10}" for name in columns),
            *(f"{width:>4}" + "".join(f"{tau:>10.2f}" for tau in taus) for width, *taus in rows),
        ]


def network_of(heads: MedusaDraft, folder: Path, decoder: Decoder) -> MedusaNetwork:
    """Heads as they are when they draft."""
    weights = heads.host_format(lambda: {}, library.available() is not None)
    source, cap = decoder.source, decoder.config.logit_soft_cap
    return load_medusa(HeadCheckpoint(folder), source.head, source.dtype, cap, weights, _CPU)


def count_trees(network: MedusaNetwork, decoder: Decoder, replies: Replies) -> Count:
    """Count the tokens of a round with trees of each width and kind, and keep the searched ones of one tree.

    Args:
        network: The heads.
        decoder: The target.
        replies: Some of the target's.
    """
    log = RankLog(tuple(ranks_of(network, hidden, tokens) for hidden, tokens in replies))
    greedy = [greedy_tree(log.accuracies, width - 1) for width in WIDTHS]
    searched = [search_tree(log, tree) for tree in greedy]
    largest = searched[-1]
    kept = tuple(log.tau(largest[: width - 1]) for width in WIDTHS)
    grown = grown_tokens(network, decoder, replies)
    within = log.accuracies.cumsum(1)
    calibration = HeadCalibration(
        tree=largest,
        searched=kept,
        grown=grown,
        follows=sum(kept) >= sum(grown),
        accuracies=tuple(tuple(float(shares[top - 1]) for top in TOPS) for shares in within),
        places=sum(map(len, log.replies)),
    )
    return Count(calibration, tuple(map(log.tau, greedy)), tuple(map(log.tau, searched)))


def replies_of(decoder: Decoder, examples: Sequence[Example]) -> Iterator[tuple[Tensor, tuple[int, ...]]]:
    """Hidden rows, (n - 1, h), and tokens, n, of each reply, as `ranks_of` takes them."""
    for example in examples:
        features = features_of(decoder, [example.ids])[0] if example.features is None else example.features
        place = 0
        for learned, run_ in groupby(example.learn):
            count = len(list(run_))
            if learned and place and count > 1:
                yield features[place - 1 : place + count - 2].float(), example.ids[place : place + count]
            place += count


def grown_tokens(network: MedusaNetwork, decoder: Decoder, replies: Replies) -> tuple[float, ...]:
    """Tokens of a round by width with trees of the heads' own probabilities."""
    config = decoder.config
    drafter = MedusaDrafter(network, config.layers)
    lengths: list[list[list[int]]] = [[] for _ in WIDTHS]
    for hidden, tokens in replies:
        drafter.reset(tokens[:1])
        for each in lengths:
            each.append([])
        for place, row in enumerate(hidden):
            drafter.observe(tokens[place : place + 1], row[None])
            draft = drafter.propose(DraftShape(WIDTHS[-1] - 1))
            order = sorted(range(len(draft)), key=lambda node: -draft.scores[node])
            rank = {node: at for at, node in enumerate(order)}
            found, node = [], ROOT
            for token in tokens[place + 1 :]:
                child = draft.children[node + 1].get(token)
                if child is None:
                    break
                found.append(rank[child])
                node = child
            for each, width in zip(lengths, WIDTHS, strict=True):
                # A node is in every tree that its children are in.
                each[-1].append(1 + sum(at < width - 1 for at in found))
    return tuple(map(replay, lengths))
