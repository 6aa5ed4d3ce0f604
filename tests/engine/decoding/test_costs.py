from __future__ import annotations

import pytest

from engine.decoding.costs import Costs, Curve


def test_measured_widths_are_medians_of_the_last_rounds() -> None:
    curve = Curve(lambda rows: 1.0)
    for seconds in (9.0, 9.0, 9.0, 1.0, 1.1, 1.2, 50.0, 1.0, 1.1, 1.2):
        curve.add(8, seconds)
    assert curve.seconds(8) == 1.1


def test_widths_between_measured_ones_lie_on_a_line_of_factors_of_what_was_expected() -> None:
    curve = Curve(float, {2: 4.0, 4: 4.0})
    assert [curve.seconds(rows) for rows in (1, 2, 3, 4, 8)] == [2.0, 4.0, 4.5, 4.0, 8.0]
    # Measurements of one power of two share a factor.
    assert Curve(lambda rows: 1.0, {6: 2.0}).seconds(8) == 2.0


def test_one_row_is_a_fixed_part_of_wider_forwards_of_one_text() -> None:
    curve = Curve(lambda rows: 1.0 + 0.1 * (rows - 1), fixed=True)
    curve.add(1, 2.0)
    assert curve.seconds(9) == pytest.approx(3.6)
    curve.add(8, 4.8)
    assert curve.seconds(8) == pytest.approx(3.4)  # may have been a hiccup
    curve.add(8, 4.8)
    assert [curve.seconds(rows) for rows in (1, 8, 15)] == pytest.approx([2.0, 4.8, 7.6])


def test_other_programs_that_slow_drafts_down_do_not_make_rows_dear() -> None:
    cost = Costs()
    for size, seconds in ((0, 1.0), (0, 1.0), (2, 1.2), (2, 2.4), (2, 2.4), (2, 2.4), (0, 2.0), (0, 2.0)):
        cost.add_forward(size, seconds)
    assert cost.forward_s(2) / cost.forward_s(0) == pytest.approx(1.2)
    for _ in range(7):
        cost.add_forward(0, 1.0)
    assert cost.forward_s(2) == pytest.approx(1.2)


def test_one_slow_plain_forward_does_not_make_rows_cheap() -> None:
    cost = Costs()
    for size, seconds in ((0, 1.0), (0, 1.0), (2, 1.6), (2, 1.6), (2, 1.6), (0, 2.0), (0, 1.0)):
        cost.add_forward(size, seconds)
    assert cost.forward_s(2) == pytest.approx(1.6)


def test_widths_that_were_not_measured_yet_take_what_earlier_sessions_saw_at_the_load_of_now() -> None:
    cost = Costs()
    cost.expect({1: 1.0, 8: 1.7, 64: 13.6})
    cost.add_forward(0, 2.0)
    assert cost.forward_s(7) == pytest.approx(3.4)
    assert cost.forward_s(63) == pytest.approx(27.2)
    for _ in range(3):
        cost.add_forward(7, 5.0)
    assert cost.forward_s(7) == pytest.approx(5.0)


def test_a_draft_is_free_until_one_was_measured() -> None:
    cost = Costs()
    assert cost.draft_s(7) == 0.0
    for _ in range(2):
        cost.add_draft(7, 0.7)
        cost.add_draft(1, 0.6)
    assert [cost.draft_s(size) for size in (0, 1, 7, 15)] == pytest.approx([0.0, 0.6, 0.7, 0.7])


def test_a_forward_that_waits_takes_the_disk_s_time_at_every_width() -> None:
    """2 s of the disk, 0.2 s of computing 64 rows; one slow round says nothing against its width."""
    cost = Costs(flat=True)
    assert not cost.measured
    cost.add_forward(63, 2.0, waited_s=1.8)
    assert cost.measured
    assert cost.knows_plain
    for seconds in (2.0, 6.0, 2.0):
        cost.add_forward(63, seconds, waited_s=seconds - 0.2)
    for size in (1, 7, 63, 40):
        assert cost.forward_s(size) == 2.0
    assert cost.forward_s(0) == 2.0


def test_a_wide_forward_that_computes_longer_than_the_disk_takes_tells_nothing_of_plain_ones() -> None:
    cost = Costs(flat=True)
    for _ in range(2):
        cost.add_forward(63, 5.0, waited_s=0.1)
    assert not cost.knows_plain
    assert cost.forward_s(0) == pytest.approx(4.9)
    cost.add_forward(0, 2.0, waited_s=1.9)
    assert cost.knows_plain
    assert cost.forward_s(0) == 2.0
    assert cost.forward_s(63) == pytest.approx(4.9)


def test_one_wide_forward_from_a_fast_disk_tells_what_narrow_ones_take() -> None:
    """The disk takes 0.2 s, and computing 0.18 s and 6 ms a row, which is half as fast as was predicted."""
    cost = Costs(flat=True)
    cost.expect_streamed(lambda rows: 0.09 + 0.003 * rows, 0.2)
    assert cost.known
    assert not cost.measured
    assert [cost.forward_s(size) for size in (0, 31, 63)] == pytest.approx([0.2, 0.2, 0.282])
    cost.add_forward(63, 0.564)
    assert [cost.forward_s(size) for size in (0, 7, 63)] == pytest.approx([0.186, 0.228, 0.564])
    cost.add_forward(0, 0.2, waited_s=0.03)
    assert cost.forward_s(0) == pytest.approx(0.2)


def test_no_forward_is_expected_to_take_no_time_after_narrow_ones_were_slow() -> None:
    """Earlier replies met other programs in their plain rounds alone."""
    cost = Costs()
    cost.expect({1: 0.040, 2: 0.039, 4: 0.036, 8: 0.045})
    _rows(cost, (0, 0.030), (0, 0.030), (1, 0.033), (3, 0.036), (7, 0.060))
    times = [cost.forward_s(size) for size in range(64)]
    assert times == sorted(times)
    assert times[0] == pytest.approx(0.030)


def _rows(cost: Costs, *seconds_by_size: tuple[int, float]) -> Costs:
    for size, seconds in seconds_by_size:
        cost.add_forward(size, seconds)
    return cost


def test_rows_cost_a_tenth_until_they_are_measured_twice() -> None:
    cost = _rows(Costs(), (0, 1.0), (0, 1.0))
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
    cost = _rows(Costs(), (0, 1.0), (0, 3.0), (0, 1.0), (3, 1.6), (3, 4.0), (3, 1.6), (3, 1.6))
    assert cost.forward_s(0) == 1.0
    assert cost.forward_s(3) == pytest.approx(1.6)
    assert cost.knows(3)


def test_rows_cost_no_more_than_forwards_and_doubts_forget_them() -> None:
    cost = _rows(Costs(), (0, 1.0), (0, 1.0), (1, 9.0), (1, 9.0), (1, 9.0))
    assert cost.forward_s(1) == 2.0
    cost.doubt()
    assert cost.doubts == 1
    assert cost.forward_s(1) == pytest.approx(1.1)


def test_earlier_sessions_tell_relations() -> None:
    cost = Costs()
    cost.expect({1: 0.01, 2: 0.012, 16: 0.03})
    _rows(cost, (0, 2.0), (0, 2.0))
    assert cost.forward_s(1) == pytest.approx(2.4)
    assert cost.forward_s(15) == pytest.approx(6.0)
    assert cost.nodes_to_try == 31


def test_plain_rounds_are_compared_by_their_mean_as_a_replys_speed_is_one() -> None:
    cost = Costs()
    assert cost.mean_plain_s() is None
    for seconds in (*[0.004] * 9, 0.014):
        cost.add_forward(0, seconds)
    assert cost.mean_plain_s() == pytest.approx(0.005)
    waits = Costs(flat=True)
    waits.add_forward(3, 0.5, waited_s=0.5)
    assert waits.mean_plain_s() == 0.5
