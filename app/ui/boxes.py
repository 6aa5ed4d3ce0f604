"""Rows and columns that are filled in one call."""

from __future__ import annotations

from typing import Literal, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QLayout, QWidget

STRETCH: Literal["stretch"] = "stretch"
_Box = TypeVar("_Box", bound=QBoxLayout)
_Thing = QWidget | QLayout
_Part = _Thing | tuple[_Thing, int] | tuple[QWidget, int, Qt.AlignmentFlag] | int | Literal["stretch"]


def filled(
    box: _Box,
    *parts: _Part,
    margins: int | tuple[int, int, int, int] | None = None,
    spacing: int | None = None,
) -> _Box:
    """Fill a row or a column in the order of its parts.

    Args:
        box: A layout, new or filled in part.
        parts: Widgets and layouts, each alone or with its stretch and alignment; gaps in px; `STRETCH` for a gap that
            takes the room that is left.
        margins: Px at all sides, or at the left, above, at the right and below; None for those of the style.
        spacing: Px between parts; None for the style's.

    Returns:
        The same layout.
    """
    if margins is not None:
        box.setContentsMargins(*(margins if isinstance(margins, tuple) else (margins,) * 4))
    if spacing is not None:
        box.setSpacing(spacing)
    for part in parts:
        if part == STRETCH:
            box.addStretch(1)
        elif isinstance(part, int):
            box.addSpacing(part)
        else:
            thing, stretch, *alignment = part if isinstance(part, tuple) else (part, 0)
            if isinstance(thing, QLayout):
                box.addLayout(thing, stretch)
            else:
                box.addWidget(thing, stretch, *alignment)
    return box
