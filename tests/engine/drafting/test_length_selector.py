"""Minions' selector: the length follows the slope of t / vl, and is not judged before there are enough records."""

from __future__ import annotations

import pytest

from engine.drafting.committee import CommitteeMemory
from engine.drafting.minions import LengthSelector
from engine.messages import RoundRecord


def round_of(length: int, seconds: float, tokens: int = 1) -> RoundRecord:
    """A chain of this length of which all but one token are the draft's."""
    return RoundRecord(
        position=1,
        tokens=(1,) * length,
        parents=tuple(range(-1, length - 1)),
        scores=(),
        accepted=tuple(range(tokens - 1)),
        emitted=(1,) * tokens,
        draft_ms=0.0,
        verify_ms=seconds * 1e3,
    )


def judge(selector: LengthSelector, seconds: float, *tokens: int) -> None:
    """Rounds of the present length, one for each number of verified tokens."""
    length = selector.length
    for count in tokens:
        selector.observe(round_of(length, seconds, count))


def test_nothing_is_judged_before_enough_records_of_a_length() -> None:
    selector = LengthSelector(12, CommitteeMemory(), length=4, decision_threshold=5)
    for length in (4, 5):
        for _ in range(4):
            selector.observe(round_of(length, 1.0))
            assert selector.length == length
        selector.observe(round_of(length, 1.0 - 0.1 * length))
        assert selector.length == length + 1


@pytest.mark.parametrize(("seconds", "length"), [(0.9, 8), (1.1, 3)])
def test_a_falling_slope_lengthens_and_a_rising_one_shortens(seconds: float, length: int) -> None:
    selector = LengthSelector(12, CommitteeMemory(), length=4, decision_threshold=4, s_reward=2, s_punish=3)
    judge(selector, 1.0, 1, 1, 1, 1)
    assert selector.length == 6  # no other length was tried
    judge(selector, seconds, 1, 1, 1, 1)
    assert selector.length == length


def test_verified_tokens_are_averaged_before_they_divide() -> None:
    """The mean of 1 / 1 and 1 / 5 is more than 1 / 2, but two rounds of 6 tokens together take a third of one each."""
    selector = LengthSelector(12, CommitteeMemory(), length=4, decision_threshold=2)
    judge(selector, 1.0, 2, 2)
    judge(selector, 1.0, 1, 5)
    assert selector.length == 6


def test_a_step_back_that_helped_is_followed_by_another() -> None:
    selector = LengthSelector(12, CommitteeMemory(), length=9, decision_threshold=4)
    lengths = []
    for _ in range(12):
        lengths.append(selector.length)
        judge(selector, 1.0 + selector.length, 1, 1, 1, 1)
    assert lengths[:2] == [9, 10]
    assert lengths[2:] == [9, 8, 7, 6, 5, 4, 3, 2, 1, 1]


def test_the_length_stays_within_its_limits() -> None:
    short, long = (
        LengthSelector(6, CommitteeMemory(), length=1, decision_threshold=2),
        LengthSelector(6, CommitteeMemory(), length=9, decision_threshold=2),
    )
    assert long.length == 6
    for _ in range(20):
        short.observe(round_of(short.length, 1.0 + short.length))
        long.observe(round_of(long.length, 100.0 - long.length))
    assert (short.length, long.length) == (1, 6)
    assert short.shape().rows == 1


def test_rounds_without_a_draft_are_no_records() -> None:
    selector = LengthSelector(6, CommitteeMemory(), length=3, decision_threshold=2)
    for at in range(10):
        selector.observe(round_of(0, 1.0 - 0.05 * at))
    assert selector.length == 3


def test_from_a_short_length_it_settles_at_the_best() -> None:
    """Each token holds with 0.8 and a row adds 0.06 of a forward: 7 tokens take the least time for each that holds."""
    selector = LengthSelector(16, CommitteeMemory(), length=2, decision_threshold=4)
    selector.observe(round_of(2, 1.0))  # the first round of all is slow
    lengths = []
    for _ in range(400):
        length = selector.shape().rows
        expected = sum(0.8**at for at in range(length + 1))
        selector.observe(round_of(length, (1.0 + 0.06 * length) / expected))
        lengths.append(length)
    assert {*lengths[200:]} <= {*range(6, 11)}  # which differ by 3 %


def test_a_reply_begins_with_the_length_that_the_one_before_found() -> None:
    memory = CommitteeMemory()
    first = LengthSelector(12, memory, decision_threshold=2)
    judge(first, 1.0, 1, 1)
    assert LengthSelector(3, memory).length == 3
    second = LengthSelector(12, memory, decision_threshold=2)
    assert second.length == first.length == 5
    judge(second, 1.5, 1, 1)
    assert second.length == 4  # by what the first has seen
