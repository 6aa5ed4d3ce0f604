from __future__ import annotations

from collections.abc import Iterator

import pytest

from app import words
from app.words import mark, tr


@pytest.fixture
def german() -> Iterator[None]:
    said = {("New chat", -1): "Neuer Chat", ("%n chat(s)", 2): "%n Chats", ("{a} of {b}", -1): "von {b}: {a}"}
    before = words._translate
    words.speak(lambda text, n: said.get((text, n), text))
    yield
    words.speak(before)


def test_words_are_as_written_until_a_language_is_spoken() -> None:
    assert tr("New chat") == "New chat"
    assert tr("{a} of {b}", a=1, b=2) == "1 of 2"
    assert tr("%n chat(s)", 3) == "3 chat(s)"


def test_words_figures_and_plurals_are_translated(german: None) -> None:
    assert tr(mark("New chat")) == "Neuer Chat"
    assert tr("{a} of {b}", a=1, b=2) == "von 2: 1"
    assert tr("%n chat(s)", 2) == "2 Chats"


def test_braces_stay_where_there_are_no_figures() -> None:
    assert tr("a {b}") == "a {b}"
