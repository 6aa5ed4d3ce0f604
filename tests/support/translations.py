"""Keeps the translations in assets/translations up to date: ``python -m tests.support.translations``.

Every literal that `tr` or `mark` of `app.words`, `say` or `mark` of `engine.sentences`, or an error is called with is a
text, and so is the catalogue's line about each model. A text that is no longer in the code leaves the files; one that
is not translated yet is printed, and a translator adds it: a string, or a list of its forms by number.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from engine import errors
from tests.support.sources import tree_of

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "assets" / "translations"
# Forms that a number has in each language.
FORMS = {"en": 2, "de": 2, "zh": 1}


def _is_shown(kind: object) -> bool:
    """True for an error that a person may read; a cancelled request is never shown."""
    return isinstance(kind, type) and issubclass(kind, errors.TenonError) and kind is not errors.Cancelled


# What takes a text, by the module that it comes from; an error says its text itself.
COLLECTED = {
    "app.words": {"tr", "mark"},
    "engine.sentences": {"say", "mark"},
    "engine.errors": {kind.__name__ for kind in vars(errors).values() if _is_shown(kind)},
}
# The command line is in English, and what the trainer says is for the project: their errors are not collected.
IN_ENGLISH = ("engine/cli/", "engine/training/", "app/__main__.py")


def texts_in(tree: ast.AST, of_errors: bool = True) -> Iterator[str]:
    """The literals that `tr`, `say` and `mark` are called with, and those of errors where they count.

    Raises:
        ValueError: One of them builds a text instead of naming one.
    """
    ours = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (of_errors or node.module != "engine.errors")
        for alias in node.names
        if alias.name in COLLECTED.get(node.module or "", ())
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if node.func.id not in ours or not node.args:
            continue
        argument = node.args[0]
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str) and argument.value:
            yield argument.value
        elif node.func.id == "mark" or isinstance(argument, (ast.JoinedStr, ast.BinOp)):
            raise ValueError(f"line {node.lineno}: {node.func.id} needs a literal")


@cache
def collected() -> frozenset[str]:
    """Every text of the window and the engine."""
    path = ROOT / "assets" / "catalogue.json"
    models = json.loads(path.read_text(encoding="utf-8"))["models"]
    return frozenset(model["about"] for model in models).union(_texts("engine"), _texts("app"))


def _texts(package: str) -> Iterator[str]:
    for path in (ROOT / package).rglob("*.py"):
        of_errors = not path.relative_to(ROOT).as_posix().startswith(IN_ENGLISH)
        yield from texts_in(tree_of(path), of_errors)


def translations(language: str) -> dict[str, tuple[str, ...]]:
    """The translations of a language: source -> its forms (one where there is no number)."""
    table = json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8"))
    return {source: (said,) if isinstance(said, str) else tuple(said) for source, said in table.items()}


def needed(language: str) -> set[str]:
    """Texts that must be translated: in English what has a plural."""
    return {text for text in collected() if language != "en" or "%n" in text}


def update(language: str) -> list[str]:
    """Take out of a language's file what is no longer said; return what is left to translate."""
    path, wanted = FOLDER / f"{language}.json", needed(language)
    table = json.loads(path.read_text(encoding="utf-8"))
    kept = {source: said for source, said in table.items() if source in wanted}
    text = json.dumps(kept, ensure_ascii=False, indent=0, sort_keys=True)
    path.write_text(f"{text}\n", encoding="utf-8")
    return sorted(wanted - kept.keys())


def main() -> int:
    """Bring every file up to date, and print what is left to translate."""
    for language in FORMS:
        left = update(language)
        print(f"{language}: {len(left)} to translate", *left, sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
