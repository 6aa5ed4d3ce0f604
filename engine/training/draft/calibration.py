"""``tenon train tree``: the tree that Medusa heads follow, searched on a target's replies and kept.

Source: Ghidorah (Wei et al. 2025), section III-C.1. The replies are read once for the ranks of their tokens in the
heads, from which the tokens of a round are counted for any tree; trees of the heads' own probabilities are counted too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TextIO

import torch
from torch import Tensor

from engine.drafting.kept_tree import keep_tree
from engine.drafting.medusa_draft import MedusaDraft, MedusaDrafter
from engine.drafting.medusa_heads import MedusaNetwork, load_medusa
from engine.drafting.rank_log import RankLog, ranks_of, replay
from engine.drafting.searched_tree import WIDTHS, greedy_tree, search_tree
from engine.errors import InvalidOption
from engine.hub.installed import cache_folder, find_model
from engine.kernels import library
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.token_tree import ROOT, DraftShape
from engine.placement.link import Link
from engine.text.tokenizer import Tokenizer
from engine.training.draft.features import Example, features_of
from engine.training.draft.making import TextRequest, check_texts, texts_of
from engine.weights.checkpoint import Checkpoint
from engine.weights.draft_kind import is_medusa
from engine.weights.head_checkpoint import HeadCheckpoint

_CPU = torch.device("cpu")


@dataclass(frozen=True, kw_only=True)
class TreeRequest(TextRequest):
    """Request to search a tree.

    Attributes:
        draft: The heads' folder or name.
    """

    draft: str


@dataclass(frozen=True)
class Calibration:
    """Tokens of a round by the rows of its forward, on the replies that the tree was searched on.

    Attributes:
        greedy: With the nodes of the largest products of accuracies.
        searched: With the best tree that was found for each width.
        kept: With the first nodes of the largest searched tree, which is what is kept.
        grown: With trees of the heads' own probabilities.
    """

    greedy: tuple[float, ...]
    searched: tuple[float, ...]
    kept: tuple[float, ...]
    grown: tuple[float, ...]

    def lines(self) -> list[str]:
        """A table for a person."""
        columns = ("greedy", "searched", "kept", "grown")
        rows = zip(WIDTHS, self.greedy, self.searched, self.kept, self.grown, strict=True)
        return [
            "rows" + "".join(f"{name:>10}" for name in columns),
            *(f"{width:>4}" + "".join(f"{tau:>10.2f}" for tau in taus) for width, *taus in rows),
        ]


def run(request: TreeRequest, out: TextIO) -> Calibration:
    """Search a tree and keep it, or keep that trees of the heads' own probabilities are better.

    Args:
        request: The heads, and the texts to measure them on.
        out: Takes reports of progress.

    Raises:
        TenonError: the request makes no sense, or the target or its heads cannot be loaded.
    """
    check_texts(request)
    checkpoint = Checkpoint(find_model(request.model))
    config, folder = read_config(checkpoint), find_model(request.draft)
    if not is_medusa(folder):
        raise InvalidOption(f"{folder} holds no Medusa heads: a tree is searched for those alone.")
    heads = MedusaDraft.read(request.draft, folder, config)
    heads.check(folder, find_model(request.model), config, Tokenizer)
    decoder, examples = texts_of(request, checkpoint, out)
    # As they are when they draft.
    weights = heads.host_format(lambda: {}, library.available() is not None)
    source = decoder.source
    network = load_medusa(
        HeadCheckpoint(folder), source.head, source.dtype, config.logit_soft_cap, weights, _CPU
    )
    replies = list(_replies(decoder, examples))
    if not replies:
        raise InvalidOption(
            "There is no reply to calibrate with: give chats with replies, or let the model write."
        )
    log = RankLog(tuple(ranks_of(network, hidden, tokens) for hidden, tokens in replies))
    print(f"{len(replies)} replies, {sum(map(len, log.replies))} places", file=out, flush=True)
    greedy = [greedy_tree(log.accuracies, width - 1) for width in WIDTHS]
    searched = [search_tree(log, tree) for tree in greedy]
    largest = searched[-1]
    found = Calibration(
        greedy=tuple(map(log.tau, greedy)),
        searched=tuple(map(log.tau, searched)),
        kept=tuple(log.tau(largest[: width - 1]) for width in WIDTHS),
        grown=_grown(network, decoder, replies),
    )
    follows = sum(found.kept) >= sum(found.grown)
    keep_tree(cache_folder(), checkpoint.digest(), heads.digest, largest if follows else ())
    print(*found.lines(), sep="\n", file=out)
    what = "the searched tree" if follows else "trees of the heads' own probabilities"
    print(f"The mode ghidorah follows {what} from the next load on.", file=out, flush=True)
    return found


def _replies(decoder: Decoder, examples: Sequence[Example]) -> Iterator[tuple[Tensor, tuple[int, ...]]]:
    """Hidden rows, (n - 1, h), and tokens, n, of each reply, as `ranks_of` takes them."""
    for example in examples:
        features = features_of(decoder, [example.ids])[0] if example.features is None else example.features
        place = 0
        for learned, run_ in groupby(example.learn):
            count = len(list(run_))
            if learned and place and count > 1:
                yield features[place - 1 : place + count - 2].float(), example.ids[place : place + count]
            place += count


def _grown(
    network: MedusaNetwork, decoder: Decoder, replies: Sequence[tuple[Tensor, tuple[int, ...]]]
) -> tuple[float, ...]:
    """Tokens of a round by width with trees of the heads' own probabilities."""
    config = decoder.config
    drafter = MedusaDrafter(network, config.layers, config.vocabulary_size, Link(_CPU))
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
