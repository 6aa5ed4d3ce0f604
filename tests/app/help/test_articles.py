"""Articles are true: all that they name is there, by the name that they give it."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.chat.model_entries import Fit, fit_of
from app.help import Article, HelpFacts, help_library, read_articles
from app.settings.pages import PAGES
from app.settings.settings import Settings
from app.ui.commands import FIELD_KEYS
from app.ui.help import ARTICLE, COMMAND, SETTING, setting_titles
from app.ui.main_window import MainWindow
from app.ui.theme.theme import Theme
from engine.cli import _parser as build_parser
from engine.families import SUPPORTED
from engine.modes import MODES
from tests.support.machine_scene import machine, plan
from tests.support.scripted_workspace import ScriptedWorkspace
from tests.support.window_scene import stock

ROOT = Path(__file__).resolve().parents[3]
ARTICLES = read_articles()
CODE = re.compile(r"`([^`]+)`")
BOLD = re.compile(r"\*\*([^*]+)\*\*")
WITHOUT_WINDOW = {"--version", "--self-test"}  # of `tenon` itself, answered before there is a parser


@pytest.fixture(scope="module")
def source() -> str:
    """All code of the window."""
    return "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "app").rglob("*.py"))


@pytest.fixture
def window(workspace: ScriptedWorkspace) -> Iterator[MainWindow]:
    made = MainWindow(Theme(), workspace)
    yield made
    made.close()


def code_of(article: Article) -> list[str]:
    return CODE.findall(article.body)


def options_of(parser: argparse.ArgumentParser) -> set[str]:
    """Every option of a command and of those below it."""
    found = set(parser._option_string_actions)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                found |= options_of(below)
    return found


def placeholders(article: Article) -> list[tuple[str, str]]:
    """Kind and name of each."""
    found: list[tuple[str, str]] = []

    def note(kind: str, name: str) -> str:
        found.append((kind, name))
        return ""

    article.filled(note)
    return found


def test_articles_are_many_short_and_named_once() -> None:
    assert 60 <= len(ARTICLES) <= 100
    assert len({one.name for one in ARTICLES}) == len({one.title for one in ARTICLES}) == len(ARTICLES)
    assert [one.name for one in ARTICLES if not 60 <= len(one.body) <= 1800] == []
    assert [one.name for one in ARTICLES if len(set(one.keywords)) != len(one.keywords)] == []


def test_every_placeholder_resolves(window: MainWindow) -> None:
    library, titles = help_library(), setting_titles()
    empty = HelpFacts("1.0", "/data")
    for article in ARTICLES:
        for kind, name in placeholders(article):
            if kind == COMMAND:
                assert window.commands[name].text(), (article.name, name)
            elif kind == SETTING:
                assert titles[name], (article.name, name)
            elif kind == ARTICLE:
                assert library[name] is not article
            else:
                assert kind == ""
                assert isinstance(empty.words(name), str)
        shown = article.filled(lambda kind, name: "")
        assert not re.search(r"[{}]", CODE.sub("", shown)), article.name


def test_every_command_in_a_terminal_is_understood() -> None:
    parser = build_parser()
    options = options_of(parser)
    for article in ARTICLES:
        for command in (part for code in code_of(article) for part in code.split(" | ")):
            words = shlex.split(command)
            assert {word for word in words if word.startswith("--")} <= options | WITHOUT_WINDOW, command
            if words[0] == "tenon" and not WITHOUT_WINDOW & {*words}:
                with pytest.raises(SystemExit, match="0"):  # an unknown word or value would give 2
                    parser.parse_args([*words[1:], "--help"])


def test_values_of_options_and_modes_are_the_real_ones() -> None:
    articles = help_library()
    ask = build_parser().parse_args
    for code in code_of(articles["weights"]):
        value = code.removeprefix("--weights ")
        assert ask(["ask", "--weights", value, "x"]).weights == value
    assert ("", "mode-names") in placeholders(articles["options"])
    for mode in CODE.findall(HelpFacts("", "").words("mode-names")):
        assert ask(["ask", "--mode", mode, "x"]).mode == mode


def test_every_family_that_works_is_named() -> None:
    text = help_library()["families"].body
    for family in SUPPORTED.values():
        for name in family.name.replace(" (text part)", "").split(", "):
            assert name in text, name


def test_keys_buttons_and_pages_are_the_window_s(window: MainWindow, source: str) -> None:
    keys = {key.replace("Return", "Enter") for _, rows in FIELD_KEYS for _, row in rows for key in row}
    for command in window.commands:
        keys |= {shortcut.toString().replace("Return", "Enter") for shortcut in command.action.shortcuts()}
    pages = {page.title for page in PAGES}
    modes = {mode.title for mode in MODES.values()}
    for article in ARTICLES:
        for words in BOLD.findall(article.body):
            known = words in keys | pages | modes or f'"{words}"' in source
            assert known, f"{article.name} names {words}, which the window does not have"


def test_environment_variables_are_read(source: str) -> None:
    for article in ARTICLES:
        for code in code_of(article):
            assert not code.startswith("TENON_") or f'"{code}"' in source, code


def test_settings_that_articles_name_are_in_the_dialog() -> None:
    declared = Settings.declared()
    rows = {getattr(item, "name", "") for page in PAGES for item in page.items()}
    assert setting_titles().keys() <= rows | declared.keys()
    named = {name for one in ARTICLES for kind, name in placeholders(one) if kind == SETTING}
    assert named <= rows


def test_this_computer_s_figures_are_filled_in(workspace: ScriptedWorkspace) -> None:
    stock(workspace)
    store = workspace.model_store
    facts = HelpFacts(
        "1.0", "/data", "Llama", machine(gpu=True), plan(gpu=True), store.offers.catalogue(),
        store.forecasts.known, store.recommended(), (("Temperature", "0.8"),),
    )  # fmt: skip
    assert "16 GB of memory" in facts.words("memory")
    assert "RTX 3050 Laptop** with 4 GB, of which 3.6 GB are free" in facts.words("graphics")
    assert facts.words("mode-here") == (
        "With **Llama** Auto takes **Dovetail** on this computer, for it is predicted to be the fastest of the modes "
        "that can run: about 14.5 tokens per second. Plain would write about 5.9 tokens per second."
    )
    assert "- **LLMCad** cannot run here. It is for models larger than memory" in facts.words("modes")
    assert "room for 8,192 tokens here, and can have 32,768" in facts.words("context")
    largest = facts.words("largest")
    best = store.forecasts.known
    known = [model for model in facts.models if model.reference in best]
    fitting = [model for model in known if fit_of(best[model.reference]) in (Fit.EASY, Fit.FITS)]
    title = max(fitting, key=lambda model: model.parameters or 0).title
    assert f"that fits into this computer's memory is **{title}**: it takes" in largest
    assert facts.words("sampling") == "In force now: Temperature 0.8."


def test_what_is_not_known_is_not_made_up() -> None:
    facts = HelpFacts("1.0", "/data")
    for name in ("computer", "memory", "graphics", "mode-here", "largest", "recommended"):
        assert not re.search(r"\d", facts.words(name)), name
