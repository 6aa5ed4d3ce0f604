"""Texts of the window go through `tr`, and those of the engine through `say`, which its errors do by themselves."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.sources import tree_of
from tests.support.translations import COLLECTED, IN_ENGLISH, collected

UI = Path(__file__).resolve().parents[2] / "app" / "ui"
# Calls that put words before a person, and the arguments that are words; all where none is named.
SHOWING: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(
        (
            "setText",
            "setToolTip",
            "setAccessibleName",
            "setAccessibleDescription",
            "setWindowTitle",
            "setPlaceholderText",
            "setInformativeText",
            "setTitle",
            "setSuffix",
            "setPrefix",
            "setSpecialValueText",
            "addAction",
            "addButton",
            "addItem",
            "addMenu",
            "addTab",
            "showText",
            "showMessage",
            "drawText",
            "set_hint",
            "QLabel",
            "QPushButton",
            "QToolButton",
            "QCheckBox",
            "QRadioButton",
            "QAction",
            "QMessageBox",
            "getOpenFileName",
            "getOpenFileNames",
            "getSaveFileName",
            "getExistingDirectory",
        ),
        (),
    ),
    "say": (0, 1),
    "offer": (0,),
    "Choice": (1, 2),
    "Section": (1,),
    "ChoicePopup": (1,),
}
# Names, units and what a token begins with, which are the same in every language.
AS_THEY_ARE = {"Tenon", "RAM", "GPU", "GB", "MiB", "CC BY 4.0", "CC BY-NC 4.0", "hf_..."}
# Read on a terminal before there is a window.
WITHOUT_WORDS = {"display.py"}
TRANSLATES = {"tr", "mark"}
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_PHRASE = re.compile(r"[^\W\d_]{2,},? [^\W\d_]{2,}")


def name_of(call: ast.Call) -> str:
    """The last part of what is called."""
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def literals(node: ast.AST) -> Iterator[ast.Constant]:
    """The strings that reach whoever gets this value: not those of other calls, which have their own business."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node
    elif isinstance(node, ast.IfExp):
        yield from (*literals(node.body), *literals(node.orelse))
    elif isinstance(node, ast.JoinedStr):
        for part in node.values:
            yield from literals(part.value if isinstance(part, ast.FormattedValue) else part)
    elif isinstance(node, (ast.BinOp, ast.BoolOp, ast.List, ast.Tuple)):
        for child in ast.iter_child_nodes(node):
            yield from literals(child)


def marked_in(tree: ast.AST) -> set[str]:
    """Names of constants whose words are marked."""
    return {
        ast.unparse(target)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and name_of(node.value) == "mark"
        for target in node.targets
    }


def shown_as_written(tree: ast.AST) -> list[str]:
    """Literals, and marked constants, that are shown without having been translated."""
    found = []
    marked = marked_in(tree)
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        places = SHOWING.get(name_of(call))
        if places is None:
            continue
        arguments = [argument for at, argument in enumerate(call.args) if not places or at in places]
        for argument in arguments:
            if ast.unparse(argument) in marked:
                found.append(f"line {argument.lineno}: {ast.unparse(argument)}")
        for literal in (one for argument in arguments for one in literals(argument)):
            if literal.value not in AS_THEY_ARE and _LETTERS.search(literal.value):
                found.append(f"line {literal.lineno}: {literal.value!r}")
    return found


def phrases(tree: ast.Module) -> list[str]:
    """Literals of several words that are neither translated nor for the makers of Tenon."""
    beside: set[int] = set()
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)  # a docstring
        is_call = isinstance(node, ast.Call) and name_of(node) in TRANSLATES | {"Signal", "compile"}
        is_log = isinstance(node, ast.Call) and ast.unparse(node.func).startswith("_log.")
        if is_text or is_call or is_log or isinstance(node, (ast.Raise, ast.Assert)):
            beside.update(id(inner) for inner in ast.walk(node))
    return [
        f"line {node.lineno}: {node.value!r}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if id(node) not in beside and node.value not in AS_THEY_ARE and _PHRASE.search(node.value)
    ]


@pytest.mark.parametrize(
    "code",
    [
        "label.setText('New chat')",
        "label.setText(f'{n} chats')",
        "label.setText('Copied' if copied else tr('Copy'))",
        "QLabel('Inspector', self)",
        "toast.say(tr('Gone.'), 'Undo')",
        "Choice(key, 'Models')",
        "NONE = mark('Nothing')\npainter.drawText(box, NONE)",
    ],
)
def test_a_literal_that_is_shown_would_be_found(code: str) -> None:
    assert len(shown_as_written(ast.parse(code))) == 1


@pytest.mark.parametrize(
    "code",
    ["label.setText(tr('New chat'))", "label.setText(f'{n} / {m}')", "painter.drawText(box, flags, 'GB')"],
)
def test_translated_texts_and_figures_are_let_through(code: str) -> None:
    assert shown_as_written(ast.parse(code)) == []


def test_a_phrase_would_be_found() -> None:
    code = '"""Of the file."""\nX = "Nothing was found"\nY = mark("All is well")\nassert x, "never a person\'s"'
    assert phrases(ast.parse(code)) == ["line 2: 'Nothing was found'"]


def test_the_window_shows_only_translated_texts() -> None:
    wrong = []
    for path in sorted(UI.rglob("*.py")):
        place = path.relative_to(UI).as_posix()
        tree = tree_of(path)
        if place not in WITHOUT_WORDS:
            wrong += [f"{place} {one}" for one in (*shown_as_written(tree), *phrases(tree))]
    assert wrong == []


# --- what errors and notices say -----------------------------------------------------------------------------------

ROOT = UI.parents[1]
# Of an error or a notice the person reads the sentence; details are for who mends it.
ERRORS = COLLECTED["engine.errors"]
NOTICES = {"Notice", "ErrorReport"}


def said_as_written(tree: ast.AST, saying: set[str]) -> list[str]:
    """Sentences of these errors and notices that are literals."""
    found = []
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if name_of(call) in saying:
            sentences = [*call.args[:2], *(word.value for word in call.keywords if word.arg == "message")]
            for literal in (one for sentence in sentences for one in literals(sentence)):
                if _PHRASE.search(literal.value):
                    found.append(f"line {literal.lineno}: {literal.value!r}")
    return found


@pytest.mark.parametrize(
    "code",
    ["raise InvalidOption('Choose another one.')", "emit(Notice(request, f'There is no {name} here.'))"],
)
def test_a_literal_that_is_said_would_be_found(code: str) -> None:
    assert len(said_as_written(ast.parse(code), ERRORS | NOTICES)) == 1


def test_notices_go_through_say_and_whatever_the_window_says_through_tr() -> None:
    found = {}
    for package, saying in (("engine", NOTICES), ("app", ERRORS | NOTICES)):
        for path in (ROOT / package).rglob("*.py"):
            place = path.relative_to(ROOT).as_posix()
            if not place.startswith(IN_ENGLISH):
                found[place] = said_as_written(tree_of(path), saying)
    assert {place: lines for place, lines in found.items() if lines} == {}


def test_no_text_of_the_window_speaks_to_a_terminal() -> None:
    """Options, commands and variables are words of the command line, which adds them to errors itself."""
    word = re.compile(r"(?<![\w-])--[a-z]|\btenon [a-z]|python -m|\b[A-Z]{2,}(?:_[A-Z]+)+\b|`make |\{command\}")
    assert all(map(word.search, ("give --name", "`tenon models list` names them", "check HF_TOKEN")))
    assert [text for text in sorted(collected()) if word.search(text)] == []
