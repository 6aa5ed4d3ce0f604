"""Dynamic sparse trees: they promise what a chain of states comes to, and no other choice of probes is better."""

from __future__ import annotations

import random
from itertools import combinations_with_replacement, product

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.drafting.fixed_trees import (
    NO_RANK,
    PathCounts,
    RankLog,
    StateTree,
    dynamic_tree,
    in_the_long_run,
    kept_reaches,
    trees_by_rows,
)
from tests.support.fast_cases import chosen
from tests.support.sparse_trees import full_tree, random_tree, simulated_tokens

ROWS = (3, 7, 15, 31, 63)


def make_log(depth: int, places: int, seed: int, likeliest: float = 0.5) -> RankLog:
    """Ranks that are drawn place by place and head by head; deeper heads know less."""
    chance = numpy.random.default_rng(seed)
    found = numpy.full((places, depth), NO_RANK, dtype=numpy.uint8)
    for head in range(depth):
        ranks = chance.geometric(likeliest * 0.8**head, places) - 1
        found[:, head] = numpy.where(ranks < 8, ranks, NO_RANK)
    return RankLog((found,))


@pytest.mark.parametrize("rows", chosen(ROWS, (7, 63)))
def test_the_promise_is_what_a_chain_of_states_comes_to(rows: int) -> None:
    log = make_log(3, 200_000, rows)
    counts = PathCounts(log)
    chance = random.Random(rows)
    for tree in (dynamic_tree(counts, rows), full_tree(counts, rows), random_tree(counts, rows, chance)):
        if tree is not None:
            assert simulated_tokens(log, tree) == pytest.approx(tree.tokens, rel=0.01)
            assert all(state.rows(1) <= rows for state in tree.states)


@given(st.integers(0, 1000), st.integers(1, 4), st.integers(2, 3))
def test_no_other_removal_is_better(seed: int, nodes: int, depth: int) -> None:
    counts = PathCounts(make_log(depth, 400, seed))
    tree = counts.nodes(depth, nodes)
    worth = [0.0, *(counts.accepted(counts.nodes(each, nodes)) for each in range(1, depth + 1))]
    ends = counts.ends(tree)

    def promised(reaches: tuple[int, ...]) -> float:
        return sum(end * worth[reach] for end, reach in zip(ends, reaches, strict=True))

    most = depth * len(ends)
    before = (depth,) * len(ends)
    # One after the other: what is left is worth as much as after any other single removal.
    for places in range(most - 1, len(ends) - 1, -1):
        found = kept_reaches(ends, worth, places)
        assert sum(found) == places
        assert min(found) >= 1
        others = [(*before[:at], reach - 1, *before[at + 1 :]) for at, reach in enumerate(before) if reach > 1]
        assert promised(found) >= max(map(promised, others)) - 1e-12
        before = found


def test_ends_are_a_distribution_and_nodes_come_in_order() -> None:
    counts = PathCounts(make_log(3, 5000, 1))
    for depth, most in product((1, 2, 3), (1, 5, 30)):
        nodes = counts.nodes(depth, most)
        assert sum(counts.ends(nodes)) == pytest.approx(1.0)
        assert min(counts.ends(nodes)) >= 0.0
        assert max(map(len, nodes)) <= depth
        assert counts.accepted(nodes) >= counts.accepted(counts.nodes(depth, most - 1))


def test_a_small_tree_is_the_best_of_all() -> None:
    counts = PathCounts(make_log(2, 3000, 4))
    for rows in range(3, 8):
        best = dynamic_tree(counts, rows)
        for nodes in range(1, rows):
            trees = [counts.nodes(depth, nodes) for depth in (1, 2)]
            for reaches in product(*(combinations_with_replacement((2, 1), 1 + len(tree)) for tree in trees)):
                if all(len(tree) + sum(each) <= rows for tree, each in zip(trees, reaches, strict=True)):
                    states = [StateTree(tree, each) for tree, each in zip(trees, reaches, strict=True)]
                    # The removal looks one round ahead, the long run does not.
                    assert best.tokens >= in_the_long_run(counts, states).tokens * 0.99


def test_dynamic_trees_are_worth_more_than_full_and_random_ones() -> None:
    counts = PathCounts(make_log(3, 20_000, 2))
    found = trees_by_rows(counts, (1, *ROWS))
    assert list(found) == list(ROWS)
    tokens = [tree.tokens for tree in found.values()]
    assert tokens == sorted(tokens)
    for rows, tree in found.items():
        full = full_tree(counts, rows)
        assert full is None or tree.tokens >= full.tokens
        others = [random_tree(counts, rows, random.Random(seed)) for seed in range(5)]
        assert all(other is None or tree.tokens > other.tokens - 1e-9 for other in others)
    assert trees_by_rows(counts, ROWS, members=2)[7].tokens < found[7].tokens
    assert 3 not in trees_by_rows(counts, ROWS, members=2)


def test_what_is_no_tree_is_refused() -> None:
    with pytest.raises(ValueError, match="one place at least"):
        StateTree(((0,),), (1,))
    with pytest.raises(ValueError, match="one place at least"):
        StateTree(((0,),), (1, 0))
    with pytest.raises(ValueError, match="comes before"):
        StateTree(((1,),), (1, 1))
