from __future__ import annotations

import pytest

from app.ui.command_palette import fuzzy_match
from tests.support.translations import translations

TITLES = [
    "Copy the last code block", "Copy the last reply", "Copy the last reply as plain text",
    "New chat", "Next chat", "Rename chat", "Larger text", "Über Tenon",
]  # fmt: skip


def best(typed: str) -> str:
    found = [(match[0], title) for title in TITLES if (match := fuzzy_match(typed, title)) is not None]
    return max(found)[1]


@pytest.mark.parametrize(
    ("typed", "title"),
    [
        ("nech", "Next chat"),
        ("clcb", "Copy the last code block"),
        ("plain", "Copy the last reply as plain text"),
        ("REN", "Rename chat"),
        ("l t", "Larger text"),
        ("über", "Über Tenon"),
    ],
)
def test_the_title_that_is_meant_comes_first(typed: str, title: str) -> None:
    assert best(typed) == title


def test_german_words_for_the_themes_find_them() -> None:
    said = translations("de")
    assert all(fuzzy_match(word, said[title][0]) for word, title in (("dunkel", "Dark theme"), ("hell", "Light theme")))


def test_letters_out_of_order_or_missing_fit_nothing() -> None:
    assert fuzzy_match("tahc", "New chat") is None
    assert fuzzy_match("newchatz", "New chat") is None


def test_the_places_are_those_of_the_letters() -> None:
    match = fuzzy_match("lreply", "Copy the last reply")

    assert "".join("Copy the last reply"[place] for place in match[1]) == "lreply"


def test_letters_in_a_row_count_more_than_letters_apart() -> None:
    together, apart = fuzzy_match("cop", "Copy it"), fuzzy_match("cop", "Continue a plan")

    assert together[0] > apart[0]


def test_nothing_typed_fits_everything() -> None:
    assert fuzzy_match(" ", "New chat") == (0, [])
