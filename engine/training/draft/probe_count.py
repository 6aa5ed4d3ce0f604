"""Count of dynamic sparse trees for prompt tokens on a target's replies.

Source: Parallel Prompt Decoding (Chen et al. 2024; the report, section 5.6.3). The replies are read once, with probes
behind each of their tokens, for the ranks of the tokens that follow.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy
import torch
from numpy.typing import NDArray

from engine.decoding.sequence import Target, TokenSequence
from engine.drafting.fixed_trees import (
    NO_RANK,
    WIDTHS,
    PathCounts,
    RankLog,
    full_tree,
    random_tree,
    simulated_tokens,
    trees_by_rows,
)
from engine.drafting.prompt_tokens import PromptTokenCalibration, PromptTokens
from engine.model.decoder import Decoder
from engine.model.token_tree import Draft
from engine.training.draft.features import Example
from engine.training.draft.loss import TOPS

# Rows of a forward that reads a reply, about.
_ROWS = 128


def replies_in(examples: Sequence[Example]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Each reply of some texts, and all that stands before it."""
    for example in examples:
        place = 0
        for learned, run in groupby(example.learn):
            count = len(list(run))
            if learned and place and count > 1:
                yield example.ids[:place], example.ids[place : place + count]
            place += count


def probe_ranks(
    decoder: Decoder, tokens: PromptTokens, before: Sequence[int], reply: Sequence[int]
) -> NDArray[numpy.uint8]:
    """The log of one reply of n tokens; (n - 1, m), as in `RankLog`."""
    behind_each = tokens.count * tokens.members
    step = max(1, _ROWS // (1 + behind_each))
    sequence = TokenSequence(Target(decoder), len(before) + len(reply) + step * (1 + behind_each))
    sequence.prefill(before[:-1], lambda: None) if len(before) > 1 else None
    found = numpy.full((len(reply) - 1, tokens.count), NO_RANK, dtype=numpy.uint8)
    for start in range(0, len(reply) - 1, step):
        # Behind each of these tokens stand probes; the root is what the reply says next.
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
    decoder: Decoder, tokens: PromptTokens, replies: Sequence[tuple[Sequence[int], Sequence[int]]]
) -> tuple[PromptTokenCalibration | None, RankLog]:
    """Dynamic sparse trees for each of `WIDTHS`, and the log that they were counted from; None where no guess holds.

    Args:
        decoder: The target.
        tokens: The prompt tokens.
        replies: Some of the target's, behind what stands before them.
    """
    log = RankLog(tuple(probe_ranks(decoder, tokens, before, reply) for before, reply in replies))
    trees = trees_by_rows(PathCounts(log), [width - 1 for width in WIDTHS], tokens.members)
    if not trees:
        return None, log
    within = log.accuracies.cumsum(1)
    calibration = PromptTokenCalibration(
        rows=tuple(trees),
        trees=tuple(trees.values()),
        accuracies=tuple(tuple(float(shares[top - 1]) for top in TOPS) for shares in within),
        places=sum(map(len, log.replies)),
    )
    return calibration, log


def probe_lines(calibration: PromptTokenCalibration, log: RankLog, members: int) -> list[str]:
    """Tables for a person: accuracies by place; tokens of a round by rows, with full and random trees beside them."""
    counts, chance = PathCounts(log), random.Random(1)
    lines = [
        "place" + "".join(f"{f'top {top}':>10}" for top in TOPS),
        *(
            f"{place:>5}" + "".join(f"{100 * share:>8.1f} %" for share in shares)
            for place, shares in enumerate(calibration.accuracies, 1)
        ),
        " rows" + "".join(f"{name:>10}" for name in ("dynamic", "followed", "full", "random")),
    ]
    for rows, tree in calibration.by_rows.items():
        others = [
            full_tree(counts, rows, members),
            random_tree(counts, rows, chance) if members == 1 else None,
        ]
        figures = [
            tree.tokens,
            simulated_tokens(log, tree),
            *(1.0 if one is None else one.tokens for one in others),
        ]
        lines.append(f"{rows + 1:>5}" + "".join(f"{each:>10.2f}" for each in figures))
    return lines
