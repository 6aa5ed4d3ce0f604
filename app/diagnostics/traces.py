"""Tracebacks without the words of exceptions: those may quote what a user wrote."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from pathlib import Path

from engine.errors import TenonError


def trace_of(error: BaseException) -> str:
    """Places and classes of an exception and its causes; words only of Tenon's own errors."""
    return "\n".join(_lines(error))


def without_home(text: str) -> str:
    """Return a text with the user's folder, which often holds a name, written as ~."""
    home = str(Path.home())
    return text.replace(home, "~") if len(home) > 3 else text


def _lines(error: BaseException) -> Iterator[str]:
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None:
        yield from _lines(cause)
        yield "which led to"
    for frame in traceback.format_list(traceback.extract_tb(error.__traceback__)):
        yield frame.rstrip()
    name = type(error).__name__
    yield f"{name}: {error.message}" if isinstance(error, TenonError) else name
