from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import sentences
from engine.errors import TenonError
from engine.hub.installed import find_model
from engine.sentences import figure, mark, say, speak
from engine.sizes import readable

GERMAN = {"There is no {thing}.": "Es gibt kein {thing}.", "{number} bytes": "{number} Bytes"}


@pytest.fixture
def german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "engine_de.json").write_text(json.dumps(GERMAN), encoding="utf-8")
    monkeypatch.setattr(sentences, "TABLES", tmp_path)
    sentences._table.cache_clear()
    speak("de")
    yield
    sentences._table.cache_clear()


def test_words_are_as_written_in_english() -> None:
    assert say("There is no {thing}.", thing="ship") == "There is no ship."
    assert say(mark("{braces} stay")) == "{braces} stay"
    assert figure(1234.5, ",.1f") == "1,234.5"


def test_a_sentence_and_its_figures_are_in_the_language(german: None) -> None:
    assert say(mark("There is no {thing}."), thing="Schiff") == "Es gibt kein Schiff."
    assert say("Nobody has translated this.") == "Nobody has translated this."
    assert figure(1234.5, ",.1f") == "1.234,5"
    assert readable(1_500_000_000) == "1,5 GB"
    assert readable(12) == "12 Bytes"


@pytest.mark.parametrize("content", ["", "[]", "{", '"text"'])
def test_a_damaged_table_leaves_english(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    (tmp_path / "engine_de.json").write_text(content, encoding="utf-8")
    monkeypatch.setattr(sentences, "TABLES", tmp_path)
    sentences._table.cache_clear()
    speak("de")
    assert say("There is no {thing}.", thing="ship") == "There is no ship."
    sentences._table.cache_clear()


@pytest.mark.parametrize("language", ["", "xx", "../de", "C", "de_DE"])
def test_a_language_that_is_not_there_is_english(language: str) -> None:
    speak(language)
    assert say("There is no {thing}.", thing="ship") == "There is no ship."
    assert figure(1.5, "g") == "1.5"


def test_what_the_project_ships_is_said_here_and_in_child_processes() -> None:
    speak("de")
    with pytest.raises(TenonError) as refused:
        find_model("")
    german = refused.value.message
    assert german.startswith("Der Name des Modells ist leer")
    program = (
        "from engine.hub import installed\n"
        "try: installed.find_model('')\n"
        "except Exception as error: print(ascii(error.message))"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == ascii(german)
