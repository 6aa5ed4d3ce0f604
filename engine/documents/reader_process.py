"""A document read in a process of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

from engine.child_process import Bounds, Died, TookTooMuch, answers
from engine.documents.pages import MAX_CHARACTERS, Gap, Pages, Problem, Unreadable
from engine.json_text import read_json
from engine.messages import Section, Unit

# JSON writes a character as six bytes at most.
BOUNDS = Bounds(time_s=60.0, memory_bytes=1 << 30, answer_bytes=16 * MAX_CHARACTERS)


def read_beside(
    kind: str, path: Path, cancelled: Callable[[], bool] = lambda: False
) -> tuple[str, Unit, tuple[Section, ...], dict[Gap, list[str]]]:
    """Read a document in another process, which is killed where it takes too much of anything.

    Returns:
        Its text, the kind of its sections, those, and what is missing, as `Pages` has them.

    Args:
        kind: ``pdf``, ``docx``, ``html``, ``epub`` or ``compound``.
        path: The file.
        cancelled: True once nobody waits for it any more.

    Raises:
        Unreadable: It is not usable; a process that died counts as a damaged document.
        TookTooLong: It took more than its time.
        Cancelled: Nobody waits any more.
    """
    try:
        (content,) = answers(_read, (kind, str(path)), BOUNDS, cancelled)
        answer = read_json(content)
    except TookTooMuch as error:
        raise Unreadable(Problem.TOO_LARGE_IN_MEMORY) from error
    except (Died, ValueError) as error:
        raise Unreadable(Problem.DAMAGED) from error
    if "problem" in answer:
        raise Unreadable(Problem(answer["problem"]), int(answer["pages"]))
    sections = tuple(Section(str(label), int(start)) for label, start in answer["sections"])
    gaps = {Gap(name): list(map(str, places)) for name, places in answer["gaps"].items()}
    return str(answer["text"]), answer["unit"], sections, gaps


def _read(kind: str, path: str) -> Iterator[bytes]:
    """Yield the answer of the process."""
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
    yield json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")
