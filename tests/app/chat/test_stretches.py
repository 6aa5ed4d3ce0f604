from __future__ import annotations

import sys

import pytest

from app.chat.conversation import Stretches


@pytest.mark.parametrize("pairs", [[], [(0, 3)], [(0, 3), (4, 9), (70_000, 3_000_000_000)]])
def test_what_is_packed_comes_out_again_and_again(pairs: list[tuple[int, int]]) -> None:
    stretches = Stretches.of(iter(pairs))
    assert list(stretches) == pairs
    assert list(stretches) == pairs
    assert bool(stretches) == bool(pairs)


def test_the_same_parts_are_equal() -> None:
    assert Stretches.of([(0, 3)]) == Stretches.of([(0, 3)]) != Stretches.of([(0, 4)])
    assert Stretches.of([]) == Stretches()


def test_a_hundred_take_less_than_a_kilobyte() -> None:
    assert sys.getsizeof(Stretches.of((at, at + 5) for at in range(0, 1000, 10)).packed) < 1024
