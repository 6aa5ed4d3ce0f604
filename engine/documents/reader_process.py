"""Reading of a document in a process of its own."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from engine.documents.pages import MAX_CHARACTERS, Gap, Pages, Problem, Unreadable
from engine.json_text import read_json
from engine.messages import Section, Unit
from engine.preparer import Died, Preparer, TookTooMuch

# JSON writes a character as six bytes at most.
READER = Preparer("tenon-read", 60.0, 1 << 30, clock_s=60.0, answer_bytes=16 * MAX_CHARACTERS)
_WORK = f"{__name__}:read"


def read_beside(
    kind: str, path: Path, cancelled: Callable[[], bool] = lambda: False
) -> tuple[str, Unit, tuple[Section, ...], dict[Gap, list[str]]]:
    """Read a document in another process, which is killed if it takes too much time or memory.

    Returns:
        Text, kind of sections, sections, and missing parts, as `Pages` has them.

    Args:
        kind: ``pdf``, ``docx``, ``html``, ``epub`` or ``compound``.
        path: The file.
        cancelled: True once nobody waits for it any more.

    Raises:
        Unreadable: The document is not usable; a process that died counts as a damaged document.
        TookTooLong: Reading took too much time.
        Cancelled: Nobody waits any more.
    """
    try:
        answer = read_json(READER.ask(_WORK, os.fsencode(f"{kind}\0{path}"), cancelled))
    except TookTooMuch as error:
        raise Unreadable(Problem.TOO_LARGE_IN_MEMORY) from error
    except (Died, RuntimeError, ValueError) as error:
        raise Unreadable(Problem.DAMAGED) from error
    if "problem" in answer:
        raise Unreadable(Problem(answer["problem"]), int(answer["pages"]))
    sections = tuple(Section(str(label), int(start)) for label, start in answer["sections"])
    gaps = {Gap(name): list(map(str, places)) for name, places in answer["gaps"].items()}
    return str(answer["text"]), answer["unit"], sections, gaps


def read(question: bytes) -> bytes:
    """Read a document in the process; the question has its kind and path, and the answer is JSON."""
    kind, _, path = os.fsdecode(question).partition("\0")
    reader = import_module(f"engine.documents.{kind}")
    try:
        pages: Pages = reader.read(Path(path))
        text, unit, sections = pages.finish()
        answer: dict[str, object] = {
            "text": text,
            "unit": unit,
            "sections": [(one.label, one.start) for one in sections],
            "gaps": pages.gaps,
        }
    except Unreadable as error:
        answer = {"problem": error.problem.value, "pages": error.pages}
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")
