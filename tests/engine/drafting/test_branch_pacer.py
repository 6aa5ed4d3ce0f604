"""Equations 1 and 2 by hand, and what max-min fairness comes to over many steps."""

from __future__ import annotations

import pytest

from engine.drafting.paced_tree import most_behind


@pytest.mark.parametrize(
    ("confidences", "lengths", "tokens", "count", "expected"),
    [
        ([0.5], [3], 3, 4, [0]),
        # f = 10 * 0.75 - 5 = 2.5 and 10 * 0.25 - 5 = -2.5
        ([0.6, 0.2], [5, 5], 10, 1, [0]),
        # f = 10 * 0.75 - 9 = -1.5 and 10 * 0.25 - 1 = 1.5
        ([0.6, 0.2], [9, 1], 10, 1, [1]),
        # Then 11 * 0.75 - 9 = -0.75 against 11 * 0.25 - 2 = 0.75: the second again, which has to be run first.
        ([0.6, 0.2], [9, 1], 10, 2, [1]),
        # f = 0 and 0, the earlier first; then 9 * 0.5 - 5 against 9 * 0.5 - 4: the other one.
        ([0.3, 0.3], [4, 4], 8, 2, [0, 1]),
        ([0.3, 0.3], [4, 4], 8, 1, [0]),
        ([0.0, 0.0], [2, 1], 3, 1, [1]),
        ([], [], 0, 3, []),
    ],
)
def test_the_branch_that_lacks_most_is_lengthened(
    confidences: list[float], lengths: list[int], tokens: int, count: int, expected: list[int]
) -> None:
    assert most_behind(confidences, lengths, tokens, count) == expected


@pytest.mark.parametrize("count", [1, 3])
def test_lengths_come_to_be_as_the_confidences(count: int) -> None:
    confidences, lengths = [0.5, 0.3, 0.2], [1, 1, 1]
    while sum(lengths) < 100:
        for branch in most_behind(confidences, lengths, sum(lengths), count):
            lengths[branch] += 1
    assert [abs(length - 100 * share) <= 2 for length, share in zip(lengths, confidences, strict=True)]
    assert lengths == pytest.approx([50, 30, 20], abs=2)
