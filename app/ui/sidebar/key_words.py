"""A shortcut as the sidebar hints at it."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence


def key_words(keys: str) -> str:
    """In the words of the system and of the language: "Ctrl+N" -> "Ctrl N"."""
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText).replace("+", " ")
