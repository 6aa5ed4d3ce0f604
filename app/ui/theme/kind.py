"""Another look for a widget: the style sheet reads the property ``kind`` only when it is told to."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget


def set_kind(widget: QWidget, kind: str) -> None:
    """Give a widget another kind."""
    if widget.property("kind") != kind:
        widget.setProperty("kind", kind)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
