from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.words import mark, tr
from engine import sentences


@pytest.fixture
def german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    said = {"New chat": "Neuer Chat", "%n chat(s)": ["%n Unterhaltung", "%n Unterhaltungen"]}
    (tmp_path / "de.json").write_text(json.dumps({**said, "{a} of {b}": "von {b}: {a}"}), encoding="utf-8")
    monkeypatch.setattr(sentences, "TABLES", tmp_path)
    sentences._table.cache_clear()
    sentences.speak("de")
    yield
    sentences._table.cache_clear()


def test_english_words_are_as_written_and_have_plurals() -> None:
    assert tr("New chat") == "New chat"
    assert tr("{a} of {b}", a=1, b=2) == "1 of 2"
    assert (tr("%n page(s)", 1), tr("%n page(s)", 3)) == ("1 page", "3 pages")
    assert tr("%n whale(s)", 3) == "3 whale(s)"


def test_words_figures_and_plurals_are_translated(german: None) -> None:
    assert tr(mark("New chat")) == "Neuer Chat"
    assert tr("{a} of {b}", a=1, b=2) == "von 2: 1"
    assert tr("Not there") == "Not there"
    assert [tr("%n chat(s)", n) for n in (0, 1, 2)] == [
        "0 Unterhaltungen",
        "1 Unterhaltung",
        "2 Unterhaltungen",
    ]


def test_braces_stay_where_there_are_no_figures() -> None:
    assert tr("a {b}") == "a {b}"
