"""Rows and columns that are filled in one call, and a layout that begins a new line where there is no room."""

from __future__ import annotations

from typing import Literal, TypeVar

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QBoxLayout, QLayout, QLayoutItem, QWidget

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


class Flow(QLayout):
    """Hidden widgets take no place."""

    def __init__(self, gap_px: int = 8, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap = gap_px
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        """Return the number of items."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(QRect(0, 0, width, 0), apply=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, apply=True)

    def sizeHint(self) -> QSize:
        shown = [item.sizeHint() for item in self._items if not item.isEmpty()]
        width = sum(size.width() for size in shown) + self._gap * max(0, len(shown) - 1)
        return QSize(width, max((size.height() for size in shown), default=0))

    def minimumSize(self) -> QSize:
        shown = [item.minimumSize() for item in self._items if not item.isEmpty()]
        return QSize(
            max((size.width() for size in shown), default=0),
            max((size.height() for size in shown), default=0),
        )

    def _arrange(self, rect: QRect, apply: bool) -> int:
        """Return the height in px."""
        left, top, line = rect.x(), rect.y(), 0
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint().boundedTo(QSize(max(1, rect.width()), 10_000))
            if left > rect.x() and left + size.width() > rect.x() + rect.width():
                left, top, line = rect.x(), top + line + self._gap, 0
            if apply:
                item.setGeometry(QRect(QPoint(left, top), size))
            left += size.width() + self._gap
            line = max(line, size.height())
        return top + line - rect.y()
