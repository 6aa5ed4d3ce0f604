"""Steps beside rounds, on a clock of the test's own."""

from __future__ import annotations

import math

import pytest

from engine.drafting.paced_tree import StepWorth


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def after_rounds(round_s: float, node_s: float, emitted: int, scores: list[float], rounds: int) -> StepWorth:
    clock = Clock()
    worth = StepWorth(clock)
    clock.now += 50  # reading the prompt is no round
    worth.begin()
    for _ in range(rounds):
        worth.step_done(4, 4 * node_s)
        clock.now += round_s
        worth.round_done(emitted, scores)
    return worth


def test_nothing_is_worth_it_before_anything_was_measured() -> None:
    assert not StepWorth(Clock()).is_worth(1.0)
    assert not after_rounds(1.0, 0.01, 1, [], 0).is_worth(1.0)


@pytest.mark.parametrize(("node_s", "least"), [(0.01, 0.03), (0.1, 0.3), (0.5, 1.5)])
def test_a_node_must_gain_what_rounds_yield_in_its_time(node_s: float, least: float) -> None:
    """Three tokens a second; confidences that promise two tokens a round and keep it."""
    worth = after_rounds(1.0, node_s, 3, [0.0, 0.0], 60)
    assert worth.is_worth(least * 1.05)
    assert not worth.is_worth(least * 0.95)


def test_a_draft_that_is_sure_and_wrong_is_not_believed() -> None:
    trusted = after_rounds(1.0, 0.01, 1, [], 60)
    assert trusted.is_worth(0.5)
    proved_wrong = after_rounds(1.0, 0.01, 1, [math.log(0.9)] * 4, 60)
    assert not proved_wrong.is_worth(0.5)
