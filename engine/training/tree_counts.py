"""Counts of trees on a target's replies: of Medusa heads' trees and of dynamic sparse trees for prompt tokens.

Sources: Ghidorah (Wei et al. 2025), section III-C.1; Parallel Prompt Decoding (Chen et al. 2024; the report,
section 5.6.3). The replies are read once for the ranks of their tokens in the heads, or of the tokens that follow
in probes after each token, from which the tokens of a round are counted for any tree; trees of the heads' own
probabilities are counted too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.decoding.sequence import Target, TokenSequence
from engine.drafting.fixed_trees import (
    NO_RANK,
    WIDTHS,
    PathCounts,
    RankLog,
    greedy_tree,
    replay,
    search_tree,
    trees_by_rows,
)
from engine.drafting.medusa import (
    HeadCalibration,
    MedusaDraft,
    MedusaDrafter,
    MedusaNetwork,
    load_medusa,
    ranks_of,
)
from engine.drafting.prompt_tokens import PromptTokenCalibration, PromptTokens
from engine.kernels import library
from engine.model.decoder import Decoder
from engine.model.token_tree import ROOT, Draft, DraftShape
from engine.training.features import Example, features_of
from engine.training.loss import TOPS

_CPU = torch.device("cpu")
Replies = Sequence[tuple[Tensor, tuple[int, ...]]]
"""Hidden rows, (n - 1, h), and tokens, n, of each reply, as `ranks_of` takes them."""
# Approximate rows of a forward that reads a reply.
_ROWS = 128


@dataclass(frozen=True)
class Count:
    """Count of trees on replies."""

    calibration: HeadCalibration  # calibration for the heads
    # Tokens of a round by `WIDTHS`, with the nodes of the largest products of accuracies
    greedy: tuple[float, ...]
    # Tokens of a round with the best tree found for each width, whether a larger one begins with it or not
    searched: tuple[float, ...]

    def lines(self) -> list[str]:
        """Return tables for users."""
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


def network_of(heads: MedusaDraft, decoder: Decoder) -> MedusaNetwork:
    """Load heads as they are when they draft."""
    weights = heads.host_format(lambda: {}, library.available() is not None)
    source, cap = decoder.source, decoder.config.logit_soft_cap
    return load_medusa(heads.opened.head, source.head, source.dtype, cap, weights, _CPU)


def count_trees(network: MedusaNetwork, decoder: Decoder, replies: Replies) -> Count:
    """Count the tokens of a round with trees of each width and kind, and keep the searched ones of one tree.

    Args:
        replies: Some replies of the target.
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
    """Yield hidden rows, (n - 1, h), and tokens, n, of each reply, as `ranks_of` takes them."""
    for example in examples:
        features = features_of(decoder, [example.ids])[0] if example.features is None else example.features
        for place, end in _learned(example):
            yield features[place - 1 : end - 2].float(), example.ids[place:end]


def grown_tokens(network: MedusaNetwork, decoder: Decoder, replies: Replies) -> tuple[float, ...]:
    """Return the tokens of a round by width with trees of the heads' own probabilities."""
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


def replies_in(examples: Sequence[Example]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield each reply of some texts, and all tokens before it."""
    for example in examples:
        for place, end in _learned(example):
            yield example.ids[:place], example.ids[place:end]


def _learned(example: Example) -> Iterator[tuple[int, int]]:
    """Yield where each reply begins and ends, if it has at least two tokens and does not begin the text."""
    place = 0
    for learned, run in groupby(example.learn):
        count = len(list(run))
        if learned and place and count > 1:
            yield place, place + count
        place += count


def probe_ranks(
    decoder: Decoder, tokens: PromptTokens, before: Sequence[int], reply: Sequence[int]
) -> NDArray[numpy.uint8]:
    """Return the ranks of one reply of n tokens, (n - 1, m), as in `RankLog`."""
    behind_each = tokens.count * tokens.members
    step = max(1, _ROWS // (1 + behind_each))
    sequence = TokenSequence(Target(decoder), len(before) + len(reply) + step * (1 + behind_each))
    sequence.prefill(before[:-1], lambda: None) if len(before) > 1 else None
    found = numpy.full((len(reply) - 1, tokens.count), NO_RANK, dtype=numpy.uint8)
    for start in range(0, len(reply) - 1, step):
        # Probes stand after each of these tokens; the root is the reply's next token.
        read = [before[-1], *reply][start : min(start + step, len(reply) - 1)]
        draft = Draft.chain(read[1:])
        draft = Draft(draft.tokens, draft.parents, probes=tokens.behind([tokens.count] * len(read)))
        sequence.verify(read[0], draft, lambda: None)
        for node in range(len(read)):
            said = sequence.probe_logits(draft.probe_rows(node - 1))
            assert said is not None, "each token has probes"
            true = torch.tensor(reply[start + node + 1 : start + node + 1 + tokens.count])
            logits = tokens.average(said)[: len(true)]
            above = (logits > logits.gather(1, true[:, None])).sum(1)
            found[start + node, : len(true)] = above.clamp_max(NO_RANK).numpy()
        sequence.commit(read, range(len(read)))
    return found


def count_probes(
    decoder: Decoder, tokens: PromptTokens, replies: Iterable[tuple[Sequence[int], Sequence[int]]]
) -> PromptTokenCalibration | None:
    """Return dynamic sparse trees for each of `WIDTHS`, or None if no guess holds.

    Args:
        replies: Some replies of the target, each with the tokens before it.
    """
    log = RankLog(tuple(probe_ranks(decoder, tokens, before, reply) for before, reply in replies))
    trees = trees_by_rows(PathCounts(log), [width - 1 for width in WIDTHS], tokens.members)
    if not trees:
        return None
    within = log.accuracies.cumsum(1)
    return PromptTokenCalibration(
        rows=tuple(trees),
        trees=tuple(trees.values()),
        accuracies=tuple(tuple(float(shares[top - 1]) for top in TOPS) for shares in within),
        places=sum(map(len, log.replies)),
    )


def probe_lines(calibration: PromptTokenCalibration) -> list[str]:
    """Return tables for users: accuracies by place; tokens of a round by rows."""
    return [
        "place" + "".join(f"{f'top {top}':>10}" for top in TOPS),
        *(
            f"{place:>5}" + "".join(f"{100 * share:>8.1f} %" for share in shares)
            for place, shares in enumerate(calibration.accuracies, 1)
        ),
        " rows    tokens",
        *(f"{rows + 1:>5}{tree.tokens:>10.2f}" for rows, tree in calibration.by_rows.items()),
    ]
