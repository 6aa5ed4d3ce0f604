from __future__ import annotations

from dataclasses import replace

import numpy
import pytest

from engine.decoding.worth import RankChances
from engine.drafting.drafter import NoDrafter
from engine.drafting.fixed_trees import RankLog, greedy_tree, parents_of, search_tree
from engine.messages import RoundRecord


def _round(parents: tuple[int, ...], accepted: tuple[int, ...], scores: tuple[float, ...] = ()) -> RoundRecord:
    return RoundRecord(0, (0,) * len(parents), parents, scores, accepted, (0,), 0.0, 1.0)


def _of(largest: int, counted: dict[int, float] | None = None) -> RankChances:
    drafter = NoDrafter()
    drafter.counted = counted or {}
    return RankChances(largest, drafter)


def _tokens(estimate: RankChances, size: int) -> float:
    return 1.0 + sum(estimate.of_rows()[:size])


def _many(estimate: RankChances, record: RoundRecord, rounds: int = 200) -> None:
    for _ in range(rounds):
        estimate.learn_from(record)


def test_a_large_tree_tells_what_smaller_ones_would_have_yielded() -> None:
    """The path takes the nodes that are 1st, 3rd and 4th by likelihood, listed in another order."""
    estimate = _of(4)
    record = _round((-1, -1, 0, 2), (0, 2, 3), (-0.1, -0.3, -0.5, -0.7))
    _many(estimate, record)
    assert [_tokens(estimate, size) for size in (1, 2, 3, 4)] == pytest.approx([2, 2, 3, 4], abs=0.15)


def test_rank_is_by_score_and_not_by_place() -> None:
    estimate = _of(2)
    _many(estimate, _round((-1, -1), (0,), (-2.0, -0.1)))
    assert _tokens(estimate, 1) == pytest.approx(1, abs=0.1)
    assert _tokens(estimate, 2) == pytest.approx(2, abs=0.15)


def test_rows_that_are_probes_yield_nothing() -> None:
    estimate = _of(8)
    _many(estimate, replace(_round((-1, 0, 1, 2), (0, 1, 2)), probes=(-1, 0, 1, 2)))
    assert [_tokens(estimate, rows) for rows in (2, 4, 8)] == pytest.approx([2, 3, 4], abs=0.15)


def test_what_was_not_drafted_holds_as_often_as_the_two_halves_before_it() -> None:
    reached, half, refused = _of(15), _of(15), _of(15)
    _many(reached, _round((-1, 0, 1), (0, 1, 2)))
    _many(half, _round((-1, 0, 1), (0,)))
    _many(refused, _round((-1,), ()))
    assert [_tokens(reached, size) for size in (7, 15)] == pytest.approx([8, 16], rel=0.1)
    assert _tokens(half, 15) == pytest.approx(2, abs=0.2)
    assert _tokens(refused, 15) == pytest.approx(1, abs=0.1)


def test_it_follows_a_text_that_changes() -> None:
    estimate = _of(4)
    _many(estimate, _round((-1, 0, 1, 2), (0, 1, 2, 3)))
    _many(estimate, _round((-1, 0, 1, 2), ()), rounds=25)
    assert _tokens(estimate, 4) < 2


def test_one_round_overturns_what_is_limited() -> None:
    estimate = _of(4)
    _many(estimate, _round((-1, 0, 1, 2), ()))
    estimate.limit(1.0)
    estimate.learn_from(_round((-1, 0, 1, 2), (0, 1, 2, 3)))
    assert _tokens(estimate, 4) > 2


def test_figures_of_other_replies_stand_for_the_first_rounds_and_fade() -> None:
    estimate = _of(7, {1: 1.5, 3: 2.0, 15: 3.2})
    assert [_tokens(estimate, size) for size in (1, 3, 7)] == pytest.approx([1.5, 2.0, 2.4], abs=0.3)
    assert _tokens(_of(7, {1: 1.0, 3: 1.0}), 7) < 1.5
    _many(estimate, _round((-1, 0, 1, 2, 3, 4, 5), ()), rounds=60)
    assert _tokens(estimate, 7) == pytest.approx(1.0, abs=0.15)


def test_what_was_counted_stands_until_this_text_shows_otherwise() -> None:
    estimate = _of(7, {1: 1.2, 3: 1.3, 7: 1.4})
    assert [_tokens(estimate, size) for size in (1, 3, 7)] == pytest.approx([1.2, 1.3, 1.4])
    for _ in range(40):
        estimate.learn_from(_round((-1, 0, 1), (0, 1, 2)))
    assert _tokens(estimate, 1) == pytest.approx(2.0, abs=0.1)
    assert _tokens(estimate, 3) == pytest.approx(4.0, abs=0.3)


def test_of_a_searched_tree_the_first_nodes_are_counted_and_no_other_tree_of_that_size() -> None:
    """The best tree of three nodes is no part of the best of seven: drafts have the first three of the seven."""
    ranks = [[0, 2], [1, 0], [0, 0], [1, 0], [0, 64], [0, 1], [64, 2], [64, 1]] * 8
    log = RankLog((numpy.array(ranks, dtype=numpy.uint8),))
    small, large = (search_tree(log, greedy_tree(log.accuracies, nodes)) for nodes in (3, 7))
    assert set(small) == {(0,), (0, 0), (0, 1)}
    assert not set(small) <= set(large[:3])
    estimate, parents = _of(7), parents_of(large)
    for row in log.replies[0].tolist():
        path = [large.index(tuple(row[:depth])) for depth in (1, 2) if tuple(row[:depth]) in large]
        estimate.learn_from(_round(parents, tuple(path)))
    followed, other = (numpy.mean(log.lengths(tree)[0]) for tree in (large[:3], small))
    assert followed == 2.0
    assert other == 1.75
    assert _tokens(estimate, 3) == pytest.approx(followed, abs=0.12)
    assert _tokens(estimate, 7) == pytest.approx(numpy.mean(log.lengths(large)[0]), abs=0.12)
