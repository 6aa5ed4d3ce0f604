from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.repetition import LoopWatch, loop_start, repeated_from

heads = st.lists(st.integers(0, 50), max_size=60)


@given(heads, st.lists(st.integers(100, 104), min_size=1, max_size=40), st.integers(3, 8), st.integers(0, 39))
def test_an_exact_circle_is_found_wherever_it_stops(head: list[int], cycle: list[int], rounds: int, more: int) -> None:
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


# --- while a reply is written ---------------------------------------------------------------------------------------


def noticed(text: str, asked: str = "") -> int | None:
    """After how many words of a text the watch speaks; words, and spaces with them, stand for tokens."""
    words = text.replace("\n", " \n ").split(" ")
    ids = {word: number for number, word in enumerate(dict.fromkeys(words))}
    names = list(ids)
    watch = LoopWatch(lambda tokens: " ".join(names[token] for token in tokens), asked)
    return next((at for at, word in enumerate(words, 1) if watch.add(ids[word])), None)


STORY = "They sailed for many years over the wide sea until one morning the boy saw an island in the fog. "
ROUND = "And they had been on the ship for many years, and they had seen the beauty of the sea. "


def test_a_story_that_goes_round_in_a_circle_is_noticed_in_its_third_round() -> None:
    begins = len(STORY.split())
    at = noticed(STORY + ROUND * 40, "Write a long story about a ship.")
    assert at is not None
    assert begins + 128 <= at <= begins + 128 + 2 * len(ROUND.split()) + 8


def test_rounds_in_another_order_and_with_other_words_now_and_then_are_noticed() -> None:
    parts = (
        ROUND,
        "She had a kind heart, and she was very brave. ",
        "He had been chosen to guard the old tower. ",
    )
    order = [parts[number * number % 7 % 3] for number in range(40)]
    assert noticed(STORY + "".join(order)) is not None
    changing = "".join(ROUND.replace("sea", f"sea{number}") for number in range(90))
    at = noticed(STORY + changing)
    assert at is not None
    assert at > 700  # a word that is another in each round makes it less sure


def test_what_the_person_asked_for_may_be_repeated_for_longer() -> None:
    asked = "Write 'I will not talk in class.' a hundred times."
    assert noticed("I will not talk in class. " * 100, asked) is None
    assert noticed("I will not talk in class. " * 400, asked) is not None
    assert noticed("hello " * 50) is None


def test_a_circle_says_something_new_for_one_round() -> None:
    story, round_ = list(range(100)), list(range(200, 220))
    assert repeated_from(story + 5 * round_) == 120
    assert repeated_from(story) == 100
    assert repeated_from([7] * 50) == 1
    counting = [token for number in range(12) for token in (*round_, 1000 + number)]
    assert repeated_from(story + counting) == 121


NUMBERS = "\n".join(f"| {a} | {a * a} | {a * a * a} |" for a in range(1, 200))
RECORDS = "\n".join(f'{{ "id" : {n} , "name" : "N{n}" , "age" : {n % 60} , "active" : true }}' for n in range(90))
VERSES = "\n".join(
    f"The miller number{n} went down to the water{n} at dawn{n}\nAnd the river runs on, and the river runs on,\n"
    "Under the willow the river runs on,"
    for n in range(9)
)
BRANCHES = "\n".join(f"    if ( name{n} == other{n} ) {{\n        return value{n} ;\n    }}" for n in range(60))


@pytest.mark.parametrize("text", [NUMBERS, RECORDS, VERSES, BRANCHES, STORY * 3])
def test_tables_data_songs_and_code_are_left_alone(text: str) -> None:
    assert noticed(text) is None


@given(st.lists(st.integers(0, 10**6), max_size=2000, unique=True))
def test_a_text_without_repetition_is_never_stopped(tokens: list[int]) -> None:
    watch = LoopWatch(lambda ids: "")
    assert not any(watch.add(token) for token in tokens)


@pytest.mark.parametrize(("signs", "prose"), [(0, True), (3, True), (5, True), (8, False), (12, False), (40, False)])
def test_prose_is_what_has_few_signs_that_are_no_letters(signs: int, prose: bool) -> None:
    """A text that goes round is stopped soon if it is prose; signs of 100 characters are brackets and strokes here."""
    letters = "abcdefghij klmno pqrst uvwxy zabcd efghi jklmn opqrs tuvwx yzabc defgh ijklm nopqr stuvw xyzab cdefg"
    round_ = "|" * signs + letters[signs:] + " "
    names = sorted({*round_})
    watch = LoopWatch(lambda tokens: "".join(names[token] for token in tokens))
    at = next((at for at, sign in enumerate(round_ * 12, 1) if watch.add(names.index(sign))), None)
    assert at is not None
    assert (at < 500) == prose
