"""Modes with other parts, for tests and benchmarks that switch the techniques of a paper off one by one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from engine.drafting.schedule import FixedShape
from engine.model.token_tree import DraftShape
from engine.modes import MODES


@contextmanager
def changed_mode(name: str, **parts: Any) -> Iterator[None]:
    """A mode of this process has these parts; ``rows`` drafts so many tokens in each round."""
    if rows := parts.pop("rows", None):
        parts["schedule"] = lambda values, cost, drafter: FixedShape(DraftShape(rows))
    before = MODES[name]
    MODES[name] = replace(before, **parts)
    try:
        yield
    finally:
        MODES[name] = before
