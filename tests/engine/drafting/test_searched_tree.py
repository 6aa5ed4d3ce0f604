"""Trees by accuracies and by search: the best there is on small cases, and never worse by searching."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path as FilePath

import numpy
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.decoding.loop import Decoding, Hooks, Recipe
from engine.decoding.sequence import Target, TokenSequence
from engine.decoding.statistics import ReplyClock
from engine.drafting.fixed_trees import (
    NO_RANK,
    WIDTHS,
    Path,
    RankLog,
    greedy_tree,
    parents_of,
    replay,
    search_tree,
)
from engine.drafting.medusa import MedusaDrafter, load_medusa, ranks_of
from engine.drafting.schedule import FixedShape
from engine.model.decoder import Decoder
from engine.model.sampling import Sampler
from engine.model.token_tree import DraftShape
from engine.model.weight_format import weight_format
from engine.text.stop import ReplyText
from engine.verifying import SampleAndMatch
from engine.weights.head_checkpoint import HeadCheckpoint
from tests.support.decoders import load_decoder
from tests.support.heads import make_head

Log = NDArray[numpy.uint8]


def trees(nodes: int, heads: int, ranks: int) -> Iterator[frozenset[Path]]:
    """Every tree of so many nodes that has each node's parent and likelier siblings."""
    found: set[frozenset[Path]] = {frozenset()}
    for _ in range(nodes):
        larger = set()
        for tree in found:
            for path in ((), *tree):
                rank = sum(child[:-1] == path and len(child) == len(path) + 1 for child in tree)
                if len(path) < heads and rank < ranks:
                    larger.add(tree | {(*path, rank)})
        found = larger
    yield from found


def expected_tokens(accuracies: NDArray[numpy.float64], tree: frozenset[Path] | tuple[Path, ...]) -> float:
    return 1.0 + sum(math.prod(accuracies[at, rank] for at, rank in enumerate(path)) for path in tree)


@st.composite
def accuracies(draw: st.DrawFn) -> NDArray[numpy.float64]:
    heads, ranks = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    shares = st.lists(st.floats(0.0, 1.0), min_size=ranks, max_size=ranks)
    rows = [sorted(draw(shares), reverse=True) for _ in range(heads)]
    return numpy.array(rows)


@given(accuracies(), st.integers(1, 5))
def test_greedy_is_the_best_of_all_trees(found: NDArray[numpy.float64], nodes: int) -> None:
    tree = greedy_tree(found, nodes)
    assert len(tree) <= nodes
    best = max((expected_tokens(found, each) for each in trees(nodes, *found.shape)), default=0.0)
    assert expected_tokens(found, tree) >= best - 1e-12
    assert len(parents_of(tree)) == len(tree)
    assert greedy_tree(found, nodes - 1) == tree[: nodes - 1]


@st.composite
def logs(draw: st.DrawFn) -> RankLog:
    heads = draw(st.integers(1, 3))
    rank = st.sampled_from([0, 0, 0, 1, 1, 2, NO_RANK])
    row = st.lists(rank, min_size=heads, max_size=heads)
    replies = draw(st.lists(st.lists(row, min_size=1, max_size=30), min_size=1, max_size=3))
    return RankLog(tuple(numpy.array(reply, dtype=numpy.uint8) for reply in replies))


@given(logs(), st.integers(1, 7))
def test_the_search_never_ends_below_greedy(log: RankLog, nodes: int) -> None:
    greedy = greedy_tree(log.accuracies, nodes)
    searched = search_tree(log, greedy)
    assert len(searched) == len(greedy)
    assert log.tau(searched) >= log.tau(greedy)
    assert len(parents_of(searched)) == len(searched)


@given(logs(), st.integers(1, 4))
def test_no_single_exchange_would_gain_more(log: RankLog, nodes: int) -> None:
    """On small logs every exchange is tried, so that what is found is the best among its neighbours."""
    searched = search_tree(log, greedy_tree(log.accuracies, nodes))
    inside = frozenset(searched)
    for other in trees(len(searched), log.heads, NO_RANK):
        if len(other - inside) == 1:
            assert log.tau(other) <= log.tau(searched)


def test_what_holds_together_is_found() -> None:
    """The second token holds only behind the second guess of the first, of which products know nothing."""
    rows = [[0, NO_RANK], [1, 0], [1, 0], [0, NO_RANK], [0, NO_RANK]] * 10
    log = RankLog((numpy.array(rows, dtype=numpy.uint8),))
    greedy = greedy_tree(log.accuracies, 3)
    assert greedy == ((0,), (1,), (0, 0))
    searched = search_tree(log, greedy)
    assert set(searched) == {(0,), (1,), (1, 0)}
    assert log.tau(searched) > log.tau(greedy)


def test_a_log_counts_ranks_and_rounds() -> None:
    log = RankLog((numpy.array([[0, 0], [2, 0], [0, NO_RANK], [1, NO_RANK]], dtype=numpy.uint8),))
    assert log.accuracies[0, :4].tolist() == [0.5, 0.25, 0.25, 0.0]
    assert log.accuracies[1, :2].tolist() == [0.5, 0.0]
    assert log.lengths([(0,), (0, 0)]) == [[3, 1, 2, 1]]
    assert log.tau([(0,), (0, 0)]) == 4 / 2
    assert log.tau([]) == 1.0
    assert replay([[3, 1], [1]]) == 3 / 2


def test_a_node_before_its_parent_is_refused() -> None:
    assert parents_of([(0,), (1,), (0, 0), (1, 0), (0, 1)]) == (-1, -1, 0, 1, 0)
    for tree in ([(0, 0)], [(1,)], [(0,), (0, 1)]):
        with pytest.raises(ValueError, match="before its parent or a likelier sibling"):
            parents_of(tree)


@pytest.fixture(scope="module")
def target(llama_folder: FilePath) -> Decoder:
    return load_decoder(llama_folder)


@pytest.mark.parametrize("layout", ["medusa", "medusa-drafted"])
def test_replayed_rounds_are_those_of_the_loop(target: Decoder, tmp_path: FilePath, layout: str) -> None:
    """The log of a reply says of each round of the real loop how many tokens it gives."""
    folder = make_head(layout).write(tmp_path / "heads", True)
    fp32, cpu = weight_format("fp32"), torch.device("cpu")
    network = load_medusa(HeadCheckpoint(folder), target.source.head, target.source.dtype, None, fp32, cpu)
    prompt = torch.randint(3, 300, (23,), generator=torch.Generator().manual_seed(4)).tolist()

    def reply_with(shape: DraftShape) -> tuple[list[int], ReplyClock]:
        drafter = MedusaDrafter(network, target.config.layers)
        reply, clock = ReplyText(lambda ids: "", (), (), 60), ReplyClock()
        recipe = Recipe(drafter, SampleAndMatch(Sampler(temperature=0.0)), FixedShape(shape))
        hooks = Hooks(lambda: None, lambda done, total: None, lambda tokens, drafted: None)
        for _ in Decoding(TokenSequence(Target(target), 128), recipe, prompt, reply, clock, hooks):
            pass
        return list(reply.token_ids), clock

    tokens, _ = reply_with(DraftShape(0))
    text = torch.tensor([*prompt, *tokens])
    hidden = target.forward(text, torch.arange(len(text)), target.new_cache(len(text))).hidden
    log = RankLog((ranks_of(network, hidden[len(prompt) - 1 :][: len(tokens) - 1], tokens),))
    # Random heads are right by chance alone: a tree of the ranks that came.
    tree = search_tree(log, greedy_tree(log.accuracies, WIDTHS[-1] - 1))
    lengths = log.lengths(tree)[0]
    assert max(lengths) > 1
    again, clock = reply_with(DraftShape.tree(parents_of(tree)))
    assert again == tokens
    place = 0
    for record in clock.rounds:
        if place > len(tokens) - 16:  # near the end trees are cut to what may be needed
            break
        assert len(record.emitted) == lengths[place]
        place += len(record.emitted)
    assert place > 30
