from __future__ import annotations

import pytest

from engine.decoding.round_cost import RoundCost


def _measured(**seconds_by_rows: float) -> RoundCost:
    cost = RoundCost()
    for rows, seconds in seconds_by_rows.items():
        cost.add_verify(int(rows[1:]) - 1, seconds)
    return cost


def test_measured_widths_are_medians_of_the_last_rounds() -> None:
    cost = RoundCost()
    for seconds in (9.0, 9.0, 9.0, 1.0, 1.1, 1.2, 50.0, 1.0, 1.1, 1.2):
        cost.add_verify(0, seconds)
    assert cost.plain_s() == 1.1


def test_widths_between_measured_ones_lie_on_a_line() -> None:
    cost = _measured(r1=1.0, r16=4.0)
    assert cost.seconds(15) == 4.0
    assert cost.seconds(7) == pytest.approx(1.0 + 3.0 * 7 / 15)
    assert cost.seconds(31) == 4.0


def test_widths_that_were_not_measured_yet_take_what_earlier_sessions_saw_at_the_load_of_now() -> None:
    cost = RoundCost()
    cost.expect({1: 1.0, 8: 1.7, 64: 13.6})
    cost.add_verify(0, 2.0)
    assert cost.seconds(7) == pytest.approx(3.4)
    assert cost.seconds(63) == pytest.approx(27.2)
    cost.add_verify(7, 5.0)
    assert cost.seconds(7) == 5.0


def test_the_draft_is_part_of_a_round_that_drafts() -> None:
    cost = _measured(r1=1.0, r8=2.0)
    assert cost.seconds(7) == 2.0
    cost.add_draft(7, 0.5)
    assert cost.seconds(7) == 2.5
    assert cost.plain_s() == 1.0


def test_smaller_drafts_are_taken_to_be_cheaper_until_they_are_measured() -> None:
    cost = _measured(r1=1.0, r8=1.0, r2=1.0)
    cost.add_draft(7, 0.7)
    assert cost.seconds(1) == pytest.approx(1.1)
    cost.add_draft(1, 0.6)
    assert cost.seconds(1) == 1.6


def test_rows_of_one_power_of_two_share_their_measurements() -> None:
    assert _measured(r1=1.0, r6=2.0).seconds(7) == 2.0


def test_a_forward_that_waits_takes_the_disk_s_time_at_every_width() -> None:
    """2 s of the disk, 0.2 s of computing 64 rows; one slow round says nothing against its width."""
    cost = RoundCost(flat=True)
    assert not cost.measured
    cost.add_verify(63, 2.0, waited_s=1.8)
    assert cost.measured
    assert cost.knows_plain
    for seconds in (2.0, 6.0, 2.0):
        cost.add_verify(63, seconds, waited_s=seconds - 0.2)
    for size in (1, 7, 63, 40):
        assert cost.seconds(size) == 2.0
    assert cost.plain_s() == 2.0


def test_a_wide_forward_that_computes_longer_than_the_disk_takes_tells_nothing_of_plain_ones() -> None:
    cost = RoundCost(flat=True)
    cost.add_verify(63, 5.0, waited_s=0.1)
    assert not cost.knows_plain
    assert cost.plain_s() == pytest.approx(4.9)
    cost.add_verify(0, 2.0, waited_s=1.9)
    assert cost.knows_plain
    assert cost.plain_s() == 2.0
    assert cost.seconds(63) == pytest.approx(4.9)


def _rows(cost: RoundCost, *seconds_by_size: tuple[int, float]) -> RoundCost:
    for size, seconds in seconds_by_size:
        cost.add_verify(size, seconds)
    return cost


def test_rows_cost_a_tenth_until_they_are_measured_twice() -> None:
    cost = _rows(RoundCost(), (0, 1.0), (0, 1.0))
    assert cost.forward_s(3) == pytest.approx(1.3)
    assert cost.nodes_to_try == 1
    _rows(cost, (1, 1.4))
    assert cost.forward_s(1) == pytest.approx(1.1)
    assert cost.nodes_to_try == 1
    _rows(cost, (1, 1.4))
    # Wider ones are taken to be like it.
    assert [cost.forward_s(size) for size in (1, 3)] == pytest.approx([1.4, 2.2])
    assert cost.nodes_to_try == 3
    assert not cost.knows(1)


def test_what_another_program_took_is_not_the_rows_cost() -> None:
    cost = _rows(RoundCost(), (0, 1.0), (0, 3.0), (0, 1.0), (3, 1.6), (3, 4.0), (3, 1.6), (3, 1.6))
    assert cost.forward_s(0) == 1.0
    assert cost.forward_s(3) == pytest.approx(1.6)
    assert cost.knows(3)


def test_rows_cost_no_more_than_forwards_and_doubts_forget_the_oldest() -> None:
    cost = _rows(RoundCost(), (0, 1.0), (0, 1.0), (1, 9.0), (1, 9.0))
    assert cost.forward_s(1) == 2.0
    cost.doubt()
    assert cost.doubts == 1
    assert cost.forward_s(1) == pytest.approx(1.1)


def test_earlier_sessions_tell_relations() -> None:
    cost = RoundCost()
    cost.expect({1: 0.01, 2: 0.012, 16: 0.03})
    _rows(cost, (0, 2.0), (0, 2.0))
    assert cost.forward_s(1) == pytest.approx(2.4)
    assert cost.forward_s(15) == pytest.approx(6.0)
    assert cost.nodes_to_try == 31


def test_plain_rounds_are_compared_by_their_mean_as_a_replys_speed_is_one() -> None:
    cost = RoundCost()
    assert cost.mean_plain_s() is None
    for seconds in (*[0.004] * 9, 0.014):
        cost.add_verify(0, seconds)
    assert cost.mean_plain_s() == pytest.approx(0.005)
    waits = RoundCost()
    waits.add_verify(3, 0.5, waited_s=0.5)
    assert waits.mean_plain_s() == 0.5
