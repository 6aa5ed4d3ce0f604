from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.text.repetition import loop_start

heads = st.lists(st.integers(0, 50), max_size=60)


@given(heads, st.lists(st.integers(100, 104), min_size=1, max_size=40), st.integers(3, 8), st.integers(0, 39))
def test_an_exact_circle_is_found_wherever_it_stops(
    head: list[int], cycle: list[int], rounds: int, more: int
) -> None:
    rounds = max(rounds, -(-32 // len(cycle)))
    text = head + cycle * rounds + cycle[: more % len(cycle)]
    start = loop_start(text)
    assert start is not None
    # A short circle may be seen in its last rounds alone only if those go round in a shorter one.
    assert start <= len(text) - 32
    assert start >= len(head) - 1 or text[start : len(head)] != []


@given(heads, st.lists(st.integers(100, 140), min_size=14, max_size=40, unique=True), st.integers(5, 8))
def test_a_circle_that_counts_its_rounds_is_found(head: list[int], cycle: list[int], rounds: int) -> None:
    counted = [token for number in range(rounds + 1) for token in (1000 + number, *cycle)]
    assert loop_start(head + counted) is not None


@given(st.lists(st.integers(0, 10**6), max_size=300, unique=True))
def test_a_text_without_repetition_is_no_circle(tokens: list[int]) -> None:
    assert loop_start(tokens) is None


@given(heads, st.lists(st.integers(100, 104), min_size=11, max_size=40))
def test_a_circle_that_was_left_is_none(head: list[int], cycle: list[int]) -> None:
    assert loop_start(head + cycle * 6 + list(range(200, 232))) is None


@given(st.integers(1, 12), st.integers(3, 20), st.integers(3, 8))
def test_rows_of_a_table_are_no_circle(columns: int, rows: int, marks: int) -> None:
    """Each cell has its own value behind marks that all rows share, as many as eight for one value."""
    fresh = iter(range(10_000, 20_000))
    row = [mark for column in range(columns) for mark in (*range(column * 8, column * 8 + marks), -1)]
    assert loop_start([next(fresh) if token == -1 else token for _ in range(rows) for token in row]) is None


def test_short_repetition_is_allowed() -> None:
    assert loop_start([]) is None
    assert loop_start([7] * 20) is None
    assert loop_start([7] * 40) == 0
    assert loop_start([*range(20), *range(20)]) is None
