"""Collects the texts that people read into assets/translations and compiles them.

``python -m tests.support.translations``. Every literal that `tr` or `mark` of `app.words`, `say` or `mark` of
`engine.sentences`, or an error is called with is a text, and so is the catalogue's line about each model. Texts that
are no longer in the code leave the files, new ones come in unfinished, and a translator fills them in: by hand, or
with Qt Linguist. The engine has no Qt, so what it says is written once more, as JSON.
"""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import PySide6

from engine import errors

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "assets" / "translations"
CONTEXT = "Tenon"
# Forms that a number has in each language, as Qt counts them.
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


@dataclass(frozen=True)
class Text:
    """A text of the code.

    Attributes:
        source: The words in the code.
        place: The file that has it first, from the root.
    """

    source: str
    place: str

    @property
    def plural(self) -> bool:
        """True if it has forms by number."""
        return "%n" in self.source


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


def collected() -> list[Text]:
    """Every text of the window and the engine, sorted."""
    found = {text.source: text for text in (*_texts("engine"), *_catalogue_texts(), *_texts("app"))}
    return [found[source] for source in sorted(found)]


def _catalogue_texts() -> Iterator[Text]:
    """Uses of each model of the catalogue."""
    path = ROOT / "assets" / "catalogue.json"
    for model in json.loads(path.read_text(encoding="utf-8"))["models"]:
        yield Text(model["about"], path.relative_to(ROOT).as_posix())


def _texts(package: str) -> Iterator[Text]:
    for path in sorted(
        (ROOT / package).rglob("*.py"), reverse=True
    ):  # of several places the first one is named
        place = path.relative_to(ROOT).as_posix()
        of_errors = not place.startswith(IN_ENGLISH)
        for source in texts_in(ast.parse(path.read_text(encoding="utf-8")), of_errors):
            yield Text(source, place)


def translations(language: str) -> dict[str, tuple[str, ...]]:
    """The finished translations of a language: source -> its forms (one where there is no number)."""
    path = FOLDER / f"tenon_{language}.ts"
    done: dict[str, tuple[str, ...]] = {}
    if not path.exists():
        return done
    for message in ET.parse(path).getroot().iter("message"):
        source, target = message.findtext("source") or "", message.find("translation")
        if target is None or target.get("type") == "unfinished":
            continue
        forms = tuple(form.text or "" for form in target.iter("numerusform")) or (target.text or "",)
        if all(forms):
            done[source] = forms
    return done


def write(language: str, done: dict[str, tuple[str, ...]]) -> Path:
    """Write a language's file anew; in English what has no plural is its own translation."""
    root = ET.Element("TS", version="2.1", language=language, sourcelanguage="en")
    context = ET.SubElement(root, "context")
    ET.SubElement(context, "name").text = CONTEXT
    for text in collected():
        if language == "en" and not text.plural:
            continue
        message = ET.SubElement(context, "message", {"numerus": "yes"} if text.plural else {})
        ET.SubElement(message, "location", filename=text.place)
        ET.SubElement(message, "source").text = text.source
        target = ET.SubElement(message, "translation")
        forms = done.get(text.source)
        if forms is None:
            target.set("type", "unfinished")
        if not text.plural:
            target.text = forms[0] if forms else ""
            continue
        for number in range(FORMS[language]):
            form = ET.SubElement(target, "numerusform")
            form.text = forms[number] if forms and number < len(forms) else ""
    ET.indent(root, " ")
    path = FOLDER / f"tenon_{language}.ts"
    body = ET.tostring(root, encoding="unicode")
    path.write_text(f'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n{body}\n', encoding="utf-8")
    return path


def engine_table(language: str) -> str:
    """Texts of the engine in a language: the content of its JSON file."""
    done = translations(language)
    said = {text.source: done[text.source][0] for text in _texts("engine") if text.source in done}
    return json.dumps(said, ensure_ascii=False, indent=0, sort_keys=True) + "\n"


def compile_to(source: Path, target: Path) -> None:
    """Compile a .ts file with Qt's lrelease."""
    folder = Path(PySide6.__file__).parent
    program = next(
        (str(path) for path in (folder / "lrelease", folder / "lrelease.exe") if path.exists()), ""
    )
    subprocess.run(
        [program or shutil.which("lrelease") or "lrelease", "-silent", source, "-qm", target], check=True
    )


def main() -> int:
    """Bring every file up to date; tells what is left to translate."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for language in FORMS:
        done = translations(language)
        path = write(language, done)
        compile_to(path, path.with_suffix(".qm"))
        if language != "en":
            (FOLDER / f"engine_{language}.json").write_text(engine_table(language), encoding="utf-8")
        left = [
            text.source
            for text in collected()
            if text.source not in done and (language != "en" or text.plural)
        ]
        print(f"{language}: {len(left)} to translate")
        for source in left:
            print(f"  {source}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
