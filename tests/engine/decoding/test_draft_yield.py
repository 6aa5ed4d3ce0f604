from __future__ import annotations

from dataclasses import replace

import pytest

from engine.decoding.draft_yield import DraftYield
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
