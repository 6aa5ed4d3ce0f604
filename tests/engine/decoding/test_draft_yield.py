from __future__ import annotations

from dataclasses import replace

import numpy
import pytest

from engine.decoding.adaptive_budget import DraftYield
from engine.drafting.fixed_trees import RankLog, greedy_tree, parents_of, search_tree
from engine.messages import RoundRecord


def _round(
    parents: tuple[int, ...], accepted: tuple[int, ...], scores: tuple[float, ...] = ()
) -> RoundRecord:
    return RoundRecord(0, (0,) * len(parents), parents, scores, accepted, (0,), 0.0, 1.0)


def _many(estimate: DraftYield, record: RoundRecord, budget: int, rounds: int = 200) -> None:
    for _ in range(rounds):
        estimate.observe(record, budget)


def test_a_large_tree_tells_what_smaller_ones_would_have_yielded() -> None:
    """The path takes the nodes that are 1st, 3rd and 4th by likelihood, listed in another order."""
    estimate = DraftYield((1, 2, 3, 4))
    record = _round((-1, -1, 0, 2), (0, 2, 3), (-0.1, -0.3, -0.5, -0.7))
    _many(estimate, record, 4)
    assert [estimate.tokens(size) for size in (1, 2, 3, 4)] == pytest.approx([2, 2, 3, 4], abs=0.15)


def test_rank_is_by_score_and_not_by_place() -> None:
    estimate = DraftYield((1, 2))
    _many(estimate, _round((-1, -1), (0,), (-2.0, -0.1)), 2)
    assert estimate.tokens(1) == pytest.approx(1, abs=0.1)
    assert estimate.tokens(2) == pytest.approx(2, abs=0.15)


def test_rows_that_are_probes_yield_nothing() -> None:
    estimate = DraftYield((2, 4, 8))
    _many(estimate, replace(_round((-1, 0, 1, 2), (0, 1, 2)), probes=(-1, 0, 1, 2)), 8)
    assert [estimate.tokens(rows) for rows in (2, 4, 8)] == pytest.approx([2, 3, 4], abs=0.15)


def test_larger_sizes_are_extrapolated_from_paths_that_reach_a_leaf() -> None:
    reached, refused = DraftYield((3, 7)), DraftYield((3, 7))
    _many(reached, _round((-1, 0, 1), (0, 1, 2)), 3)
    _many(refused, _round((-1, 0, 1), (0, 1)), 3)
    assert reached.tokens(7) == pytest.approx(8, abs=0.2)
    assert refused.tokens(7) == pytest.approx(3, abs=0.1)


def test_a_leaf_of_a_smaller_tree_is_where_its_nodes_end() -> None:
    """A chain of three, accepted whole: as a draft of one it would have been exhausted, though it has a child here."""
    estimate = DraftYield((1, 3))
    _many(estimate, _round((-1, 0, 1), (0, 1, 2)), 3, rounds=5)
    before = estimate.tokens(3)
    _many(estimate, _round((-1,), (0,)), 1, rounds=60)
    assert estimate.tokens(3) == pytest.approx(before, abs=0.5)
    assert before > 3


def test_it_follows_a_text_that_changes() -> None:
    estimate = DraftYield((4,))
    _many(estimate, _round((-1, 0, 1, 2), (0, 1, 2, 3)), 4)
    _many(estimate, _round((-1, 0, 1, 2), ()), 4, rounds=25)
    assert estimate.tokens(4) < 2


def test_one_round_overturns_what_is_limited() -> None:
    estimate = DraftYield((4,))
    _many(estimate, _round((-1, 0, 1, 2), ()), 4)
    estimate.limit(1.0)
    estimate.observe(_round((-1, 0, 1, 2), (0, 1, 2, 3)), 4)
    assert estimate.tokens(4) > 2


def test_figures_of_other_replies_stand_for_the_first_rounds_and_fade() -> None:
    estimate = DraftYield((1, 3, 7), {1: 1.5, 3: 2.0, 15: 3.2})
    assert [estimate.tokens(size) for size in (1, 3, 7)] == pytest.approx([1.5, 2.0, 2.4], abs=0.3)
    assert DraftYield((1, 3, 7), {1: 1.0, 3: 1.0}).tokens(7) < 1.5
    _many(estimate, _round((-1, 0, 1, 2, 3, 4, 5), ()), 7, rounds=60)
    assert estimate.tokens(7) == pytest.approx(1.0, abs=0.15)


def test_what_was_counted_stands_until_this_text_shows_otherwise() -> None:
    estimate = DraftYield((1, 3, 7), {1: 1.2, 3: 1.3, 7: 1.4})
    assert [estimate.tokens(size) for size in (1, 3, 7)] == pytest.approx([1.2, 1.3, 1.4])
    for _ in range(40):
        estimate.observe(_round((-1, 0, 1), (0, 1, 2)), 3)
    assert estimate.tokens(1) == pytest.approx(2.0, abs=0.1)
    assert estimate.tokens(3) == pytest.approx(4.0, abs=0.3)


def test_of_a_searched_tree_the_first_nodes_are_counted_and_no_other_tree_of_that_size() -> None:
    """The best tree of three nodes is no part of the best of seven: drafts have the first three of the seven."""
    ranks = [[0, 2], [1, 0], [0, 0], [1, 0], [0, 64], [0, 1], [64, 2], [64, 1]] * 8
    log = RankLog((numpy.array(ranks, dtype=numpy.uint8),))
    small, large = (search_tree(log, greedy_tree(log.accuracies, nodes)) for nodes in (3, 7))
    assert set(small) == {(0,), (0, 0), (0, 1)}
    assert not set(small) <= set(large[:3])
    estimate, parents = DraftYield((3, 7)), parents_of(large)
    for row in log.replies[0].tolist():
        path = [large.index(tuple(row[:depth])) for depth in (1, 2) if tuple(row[:depth]) in large]
        estimate.observe(_round(parents, tuple(path)), 7)
    followed, other = (numpy.mean(log.lengths(tree)[0]) for tree in (large[:3], small))
    assert followed == 2.0
    assert other == 1.75
    assert estimate.tokens(3) == pytest.approx(followed, abs=0.12)
    assert estimate.tokens(7) == pytest.approx(numpy.mean(log.lengths(large)[0]), abs=0.12)
