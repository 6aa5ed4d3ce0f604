"""Searches find the right article, and questions to a model are told from those to the help."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app import help as module
from app.help import HelpLibrary, about_tenon, help_library
from tests.app.help.questions import (
    ABOUT_TENON,
    ORDINARY,
    SEARCHES,
    UNSEEN_ABOUT_TENON,
    UNSEEN_ORDINARY,
    UNSEEN_SEARCHES,
)

LIBRARY = help_library()
Searches = Sequence[tuple[str, tuple[str, ...]]]


def found_share(searches: Searches, most: int, library: HelpLibrary = LIBRARY) -> float:
    """The share of searches with a right article among the first."""
    right = [bool({one.name for one in library.search(typed, most)} & {*names}) for typed, names in searches]
    return sum(right) / len(right)


def test_the_right_article_comes_first() -> None:
    assert len(SEARCHES) == 100
    assert all(name in LIBRARY for _, names in (*SEARCHES, *UNSEEN_SEARCHES) for name in names)
    assert found_share(SEARCHES, 1) >= 0.95
    assert found_share(SEARCHES, 3) == 1.0
    assert found_share(UNSEEN_SEARCHES, 1) >= 0.8
    assert found_share(UNSEEN_SEARCHES, 3) >= 0.9


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("encr", "encryption"),  # unfinished
        ("drak mode", "appearance"),
        ("temprature", "sampling"),
        ("kyebord shortcuts", "shortcuts"),
        ("ARE MY CHATS ENCRYPTED???", "encryption"),
        ("inspecting tokens", "inspector"),  # inflected
    ],
)
def test_words_may_be_unfinished_inflected_or_mistyped(typed: str, name: str) -> None:
    assert LIBRARY.search(typed, 1) == [LIBRARY[name]]


@given(st.text())
def test_anything_may_be_typed(typed: str) -> None:
    about_tenon(typed)
    assert len(LIBRARY.search(typed, 5)) <= 5


def test_what_no_article_speaks_of_finds_none() -> None:
    assert LIBRARY.search("xylophone") == LIBRARY.search("") == LIBRARY.search("?!") == []


def test_a_sqlite_without_full_text_search_still_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    class Bare(sqlite3.Connection):
        def execute(self, *arguments: object) -> sqlite3.Cursor:
            raise sqlite3.OperationalError("no such module: fts5")

    connect = sqlite3.connect
    monkeypatch.setattr(module.sqlite3, "connect", lambda place: connect(place, factory=Bare))
    assert found_share(SEARCHES, 5, HelpLibrary(LIBRARY.articles)) > 0.5


def test_questions_about_tenon_are_told_from_others() -> None:
    assert (len(ABOUT_TENON), len(ORDINARY)) == (40, 60)
    assert [question for question in (*ORDINARY, *UNSEEN_ORDINARY) if about_tenon(question)] == []
    assert [question for question in ABOUT_TENON if not about_tenon(question)] == []
    recall = sum(map(about_tenon, UNSEEN_ABOUT_TENON)) / len(UNSEEN_ABOUT_TENON)
    assert recall >= 0.8


def test_a_long_text_is_not_about_tenon_because_of_a_phrase_in_it() -> None:
    assert not about_tenon("Summarize this:\nHow do I delete a chat? Open the menu.")
    assert not about_tenon("How do I delete a chat? " + "And then there is more to it. " * 5)
