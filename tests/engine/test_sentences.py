from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

import engine
from engine import sentences
from engine.errors import TenonError
from engine.gpu_addon.installed_addon import Outcome
from engine.hub.installed import find_model
from engine.sentences import either, figure, mark, paragraph, readable, say, speak, together
from tests.support.sources import tree_of
from tests.support.translations import COLLECTED

GERMAN = {
    "There is no {thing}.": "Es gibt kein {thing}.",
    "{number} bytes": "{number} Bytes",
    "{names} or {last}": "{names} oder {last}",
    "There is no answer.": "Keine Antwort.",
    "It ended with code {code}.": "Ende mit Code {code}.",
}
NO_ANSWER = mark("There is no answer.")


@pytest.fixture
def german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "de.json").write_text(json.dumps(GERMAN), encoding="utf-8")
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
def test_a_damaged_table_leaves_english(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    (tmp_path / "de.json").write_text(content, encoding="utf-8")
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


def test_names_are_a_choice_or_all_of_them() -> None:
    assert either(["q8_0"]) == "q8_0"
    assert either(("fp32", "bf16", "q8_0")) == "fp32, bf16 or q8_0"
    assert together(("a", "b")) == "a and b"
    assert together(("a", "b", "c", "d")) == "a, b, c and d"


def test_what_was_made_before_is_said_in_the_language_of_now(german: None) -> None:
    assert either(("a", "b", "c")) == "a, b oder c"
    assert say(NO_ANSWER) == "Keine Antwort."


def test_a_check_of_another_language_is_told_in_this_one(german: None) -> None:
    outcome = Outcome("key", "It ended with code {code}.", figures={"code": "3"})
    assert outcome.problem == "Ende mit Code 3."
    assert Outcome("key", None).problem is None


def test_every_sentence_names_the_figures_that_it_is_given() -> None:
    saying, beside, found = {"say"} | COLLECTED["engine.errors"], {"details", "allowed", "about", "short_bytes"}, 0
    for path in sorted(Path(engine.__file__).parent.rglob("*.py")):
        for call in ast.walk(tree_of(path)):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.args):
                continue
            if call.func.id not in saying:
                continue
            text = call.args[0]
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                named = {name for _, name, _, _ in Formatter().parse(text.value) if name is not None}
                assert named == {given.arg for given in call.keywords} - beside, f"{path}:{call.lineno}"
                found += 1
    assert found > 200


def test_sentences_are_joined_as_their_language_does() -> None:
    assert paragraph("One.", "", "Two.") == "One. Two."
    assert paragraph("一。", "二！", "三。", "Four.", "Five.") == "一。二！三。Four. Five."
    assert paragraph() == paragraph("") == ""


def test_a_name_from_a_file_can_be_shown_and_saved() -> None:
    said = say("There is no {name}.", name="a\0b\n\ud800" + "x" * 10_000)
    assert said.startswith("There is no a\ufffdb\ufffd\ufffdx")
    assert len(said) < 1100
    assert said.encode().endswith("x….".encode())
