"""A document read in a process of its own: what happens there, and what the one who asks waits for."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import psutil

from engine.child_process import belong_to_window, limit_memory
from engine.documents.pages import MAX_CHARACTERS, Pages, Problem, Unreadable
from engine.errors import Cancelled
from engine.json_text import read_json
from engine.messages import Section, Unit

TIME_S = 60.0
MEMORY_BYTES = 1 << 30

_LOOK_S = 0.05
# JSON writes a character as six bytes at most.
_MAX_ANSWER_BYTES = 16 * MAX_CHARACTERS


class TookTooLong(Exception):
    """The time is up."""


def read_beside(
    kind: str, path: Path, cancelled: Callable[[], bool] = lambda: False
) -> tuple[str, Unit, tuple[Section, ...]]:
    """Read a document in another process, which is killed where it takes too much of anything.

    Args:
        kind: ``pdf``, ``docx``, ``html``, ``epub`` or ``compound``.
        path: The file.
        cancelled: True once nobody waits for it any more.

    Raises:
        Unreadable: It is not usable; a process that died counts as a damaged document.
        TookTooLong: It took more than `TIME_S`.
        Cancelled: Nobody waits any more.
    """
    context = get_context("spawn")
    answers, theirs = context.Pipe(duplex=False)
    process = context.Process(
        target=_serve, args=(kind, str(path), theirs), name="tenon-document", daemon=True
    )
    process.start()
    theirs.close()
    try:
        return _answer(answers, psutil.Process(process.pid), cancelled)
    except (EOFError, OSError, ValueError, psutil.Error) as error:
        raise Unreadable(Problem.DAMAGED) from error
    finally:
        process.kill()
        process.join()
        answers.close()


def _answer(
    answers: Connection, process: psutil.Process, cancelled: Callable[[], bool]
) -> tuple[str, Unit, tuple[Section, ...]]:
    end = time.monotonic() + TIME_S
    while not answers.poll(_LOOK_S):
        if cancelled():
            raise Cancelled("")
        if time.monotonic() > end:
            raise TookTooLong
        with contextlib.suppress(
            psutil.NoSuchProcess, psutil.ZombieProcess
        ):  # its answer, or its end, is in the pipe
            if process.memory_info().rss > MEMORY_BYTES:
                raise Unreadable(Problem.TOO_LARGE_IN_MEMORY)
    # Bytes and no objects: who takes over that process must not reach this one by what it unpickles.
    answer = read_json(answers.recv_bytes(_MAX_ANSWER_BYTES))
    if "problem" in answer:
        raise Unreadable(Problem(answer["problem"]), int(answer["pages"]))
    sections = tuple(Section(str(label), int(start)) for label, start in answer["sections"])
    return str(answer["text"]), answer["unit"], sections


def _serve(kind: str, path: str, connection: Connection) -> None:
    belong_to_window()
    limit_memory(MEMORY_BYTES)
    try:
        reader = import_module(f"engine.documents.{kind}")
        pages: Pages = reader.read(Path(path))
        text, unit, sections = pages.finish()
        answer: dict[str, object] = {
            "text": text,
            "unit": unit,
            "sections": [(one.label, one.start) for one in sections],
        }
    except Unreadable as error:
        answer = {"problem": error.problem.value, "pages": error.pages}
    except MemoryError:
        answer = {"problem": Problem.TOO_LARGE_IN_MEMORY.value, "pages": 0}
    except Exception:  # whatever a damaged file makes of a library
        answer = {"problem": Problem.DAMAGED.value, "pages": 0}
    with contextlib.suppress(OSError):
        connection.send_bytes(json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace"))
