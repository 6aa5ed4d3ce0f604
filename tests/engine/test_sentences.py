from __future__ import annotations

import ast
import json
from pathlib import Path
from string import Formatter

import pytest

import engine
from engine import sentences
from engine.gpu_addon.installed_addon import Outcome
from engine.hub.answers import HUB
from engine.sentences import either, say, speak, together


@pytest.fixture
def german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Three sentences in German, spoken from here on."""
    table = {
        "{names} or {last}": "{names} oder {last}",
        "The hub did not answer in time: check the network, and try again.": "Keine Antwort.",
        "It ended with code {code}.": "Ende mit Code {code}.",
    }
    (tmp_path / "engine_de.json").write_text(json.dumps(table), encoding="utf-8")
    monkeypatch.setattr(sentences, "TABLES", tmp_path)
    monkeypatch.setenv(sentences.LANGUAGE, "en")
    sentences._table.cache_clear()
    speak("de")
    return table


@pytest.fixture(autouse=True)
def forgotten() -> object:
    yield
    sentences._table.cache_clear()


def test_names_are_a_choice_or_all_of_them() -> None:
    assert either(["int8"]) == "int8"
    assert either(("fp32", "bf16", "int8")) == "fp32 or bf16 or int8"
    assert together(("a", "b")) == "a and b"


@pytest.mark.usefixtures("german")
def test_what_was_made_before_is_said_in_the_language_of_now() -> None:
    assert either(("a", "b")) == "a oder b"
    assert say(HUB.silent) == "Keine Antwort."


@pytest.mark.usefixtures("german")
def test_a_check_of_another_language_is_told_in_this_one() -> None:
    outcome = Outcome("key", "It ended with code {code}.", figures={"code": "3"})
    assert outcome.problem == "Ende mit Code 3."
    assert Outcome("key", None).problem is None


def test_every_sentence_names_the_figures_that_it_is_given() -> None:
    found = 0
    for path in sorted(Path(engine.__file__).parent.rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "say"):
                continue
            text = call.args[0]
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                named = {name for _, name, _, _ in Formatter().parse(text.value) if name is not None}
                assert named == {given.arg for given in call.keywords}, f"{path}:{call.lineno}"
                found += 1
    assert found > 200
