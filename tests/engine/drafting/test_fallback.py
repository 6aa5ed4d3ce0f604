"""Equation 3 as its prose has it, by hand."""

from __future__ import annotations

import pytest

from engine.drafting.paced_tree import LOWEST_THRESHOLD, FallbackThreshold


def test_a_verification_without_an_error_halves_it() -> None:
    threshold = FallbackThreshold()
    assert threshold.value == 0.01
    threshold.observe(confidence=0.009, drafted=5, correct=5)
    assert threshold.value == 0.005


@pytest.mark.parametrize(
    ("confidence", "drafted", "correct", "expected"),
    [
        # 0.01 / 0.0081 ** (2 / 4) = 0.01 / 0.09
        (0.0081, 4, 2, 1 / 9),
        # 0.01 / 0.008 ** (1 / 3) = 0.01 / 0.2
        (0.008, 3, 2, 0.05),
        # One wrong of many: 0.01 / 0.5 ** 0.1
        (0.5, 10, 9, 0.0107177),
        # Nothing right: 0.01 / 0.005 is above 1.
        (0.005, 4, 0, 1.0),
        (0.0, 4, 0, 1.0),
    ],
)
def test_errors_raise_it_by_the_confidence_of_what_came_after(
    confidence: float, drafted: int, correct: int, expected: float
) -> None:
    threshold = FallbackThreshold(0.01)
    threshold.observe(confidence, drafted, correct)
    assert threshold.value == pytest.approx(expected, rel=1e-5)


def test_it_neither_vanishes_nor_stays_up() -> None:
    threshold = FallbackThreshold(0.5)
    for _ in range(200):
        threshold.observe(0.3, 6, 6)
    assert threshold.value == LOWEST_THRESHOLD
    threshold.observe(1e-12, 2, 0)
    assert threshold.value == 1.0
    threshold.observe(0.9, 2, 2)
    assert threshold.value == 0.5
