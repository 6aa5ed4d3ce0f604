from __future__ import annotations

import pytest

from engine.decoding.statistics import ReplyClock
from engine.messages import RoundRecord


def _round(
    parents: tuple[int, ...], accepted: tuple[int, ...], draft_ms: float = 2.0, verify_ms: float = 5.0
) -> RoundRecord:
    tokens = tuple(range(len(parents)))
    return RoundRecord(9, tokens, parents, (), accepted, (0,) * (len(accepted) + 1), draft_ms, verify_ms)


@pytest.mark.parametrize(
    ("parents", "accepted", "tested"),
    [((), (), 0), ((-1, -1), (), 1), ((-1, 0), (0,), 2), ((-1, 0), (0, 1), 2), ((-1, -1, 0), (1,), 1)],
)
def test_a_position_is_tested_when_its_parent_held_and_has_drafted_children(
    parents: tuple[int, ...], accepted: tuple[int, ...], tested: int
) -> None:
    assert _round(parents, accepted).tested == tested


def test_rates_by_position_are_of_the_rounds_that_tested_it() -> None:
    clock = ReplyClock()
    clock.prompt_done()
    clock.emitted(1)
    chain = (-1, 0, 1)
    for accepted in ((0, 1, 2), (0,), ()):
        clock.round_done(_round(chain, accepted))
        clock.emitted(len(accepted) + 1)
    timings = clock.timings()
    assert timings.acceptance_by_position == pytest.approx((2 / 3, 1 / 2, 1.0))
    assert timings.acceptance_rate == pytest.approx(4 / 6)
    assert (timings.draft_n, timings.draft_n_tested, timings.draft_n_accepted) == (9, 6, 4)
    assert timings.target_forwards == 3
    assert timings.mean_acceptance_length == pytest.approx(7 / 3)
    assert (timings.draft_ms, timings.verify_ms) == pytest.approx((6.0, 15.0))


def test_a_tree_is_not_punished_for_its_width() -> None:
    clock = ReplyClock()
    clock.round_done(_round((-1, -1, -1, -1), (2,)))
    assert clock.timings().acceptance_rate == 1.0


def test_records_are_handed_over_once_and_the_latest_of_many() -> None:
    clock = ReplyClock()
    rounds = [_round((-1,), (), draft_ms=float(number)) for number in range(100)]
    for record in rounds[:2]:
        clock.round_done(record)
    assert clock.take_rounds() == tuple(rounds[:2])
    assert clock.take_rounds() == ()
    for record in rounds:
        clock.round_done(record)
    assert clock.take_rounds() == tuple(rounds[-64:])


def _begun() -> ReplyClock:
    clock = ReplyClock()
    clock.prompt_done()
    clock.emitted(1)
    return clock


def _run(clock: ReplyClock, *rounds: RoundRecord) -> None:
    for record in rounds:
        clock.round_done(record)
        clock.emitted(len(record.accepted) + 1)


def test_plain_speed_is_that_of_the_rounds_without_a_draft_and_of_earlier_ones_while_there_are_few() -> None:
    clock = _begun()
    _run(clock, _round((-1,), (0,), verify_ms=9.0))
    assert clock.timings().plain_per_second is None  # nothing is known of plain rounds
    clock.recalled_plain_s = 0.02
    assert clock.timings().plain_per_second == pytest.approx(2 / (2 * 0.02))
    _run(clock, *[_round((), (), verify_ms=40.0)] * 7)
    assert clock.timings().plain_per_second == pytest.approx(9 / (2 * 0.02 + 7 * 0.04))
    _run(clock, _round((), (), verify_ms=120.0))
    assert clock.timings().plain_per_second == pytest.approx(10 / (10 * 0.05))


def test_a_hiccup_counts_for_plain_decoding_as_for_the_reply() -> None:
    """A reply that drafts in half of its rounds, and gains nothing by that, is as fast as plain decoding."""
    clock, now = _begun(), 0.0
    for number in range(400):
        parents = (-1,) if number // 100 % 2 else ()
        verify_ms = 100.0 if number % 10 == 5 else 10.0
        now += verify_ms / 1e3
        _run(clock, _round(parents, (), draft_ms=0.0, verify_ms=verify_ms))
    assert clock.timings().plain_per_second == pytest.approx(399 / now, rel=0.05)


@pytest.mark.parametrize("tokens", [24, 200])
def test_a_reply_that_drafted_nothing_is_as_fast_as_plain_decoding(tokens: int) -> None:
    """Its first forwards are slow, behind the prompt's, as they would have been; earlier replies are no matter."""
    clock = _begun()
    assert clock.timings().predicted_per_second is None
    clock.recalled_plain_s = 0.003
    times_ms = [9.0] * 6 + [5.0] * (tokens - 7)
    _run(clock, *[_round((), (), draft_ms=0.0, verify_ms=verify_ms) for verify_ms in times_ms])
    timings = clock.timings()
    assert timings.plain_per_second == pytest.approx((tokens - 1) / (sum(times_ms) / 1e3))
    # As `engine.benchmark` and the profile count a reply: without the token that came out of the prompt.
    assert timings.predicted_per_second == pytest.approx((timings.predicted_n - 1) / timings.predicted_ms * 1e3)


def test_plain_rounds_behind_wide_ones_tell_nothing_of_plain_decoding() -> None:
    """The model is not in the caches then; in 40 ms it is."""
    clock = _begun()
    for _ in range(20):
        _run(clock, _round((-1,) * 7, (), verify_ms=8.0))
        for verify_ms in (*[5.5] * 8, *[4.0] * 3):
            _run(clock, _round((), (), draft_ms=0.0, verify_ms=verify_ms))
    # One of the slow ones ends when the 40 ms do.
    mean_s = (5.5 + 3 * 4.0) / 4e3
    assert clock.timings().plain_per_second == pytest.approx(1 / mean_s, rel=1e-6)
