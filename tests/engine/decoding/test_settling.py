"""Rounds whose times count: those that come long enough after a forward that was more than twice as wide."""

from __future__ import annotations

import pytest

from engine.decoding.costs import Settling, settled
from engine.messages import RoundRecord


def round_of(rows: int, ms: float = 5.0, draft_ms: float = 0.0) -> RoundRecord:
    """A round over so many rows, its root's included."""
    nodes = rows - 1
    return RoundRecord(0, (0,) * nodes, tuple(range(-1, nodes - 1)), (), (), (0,), draft_ms, ms)


@pytest.mark.parametrize(("wide", "narrow", "disturbs"), [
    (2, 1, False), (3, 1, True), (4, 1, True), (8, 4, False), (9, 4, True), (6, 3, False), (7, 3, True),
    (64, 31, True), (62, 31, False), (64, 32, False), (1, 1, False), (4, 8, False),
])  # fmt: skip
def test_a_forward_disturbs_those_of_less_than_half_its_rows(wide: int, narrow: int, disturbs: bool) -> None:
    settling = Settling()
    for _ in range(20):
        settling(round_of(narrow))
    settling(round_of(wide))
    assert settling(round_of(narrow)) is not disturbs


def test_after_forty_milliseconds_it_does_no_more() -> None:
    settling = Settling()
    for record in (round_of(1, 100.0), round_of(9, 5.0)):
        settling(record)
    assert [settling(round_of(1, 10.0)) for _ in range(5)] == [False, False, False, True, True]
    settling(round_of(9, 5.0))
    # What the drafter took counts too, and of two wide forwards the later one.
    assert not settling(round_of(1, 10.0, draft_ms=25.0))
    settling(round_of(3, 5.0))
    assert [settling(round_of(1, 21.0)) for _ in range(2)] == [False, True]


def test_a_reply_begins_behind_the_widest_forward_of_all() -> None:
    rounds = [round_of(8, 15.0) for _ in range(5)]
    assert settled(rounds) == rounds[2:]
    assert settled(rounds, first=4) == rounds[4:]
