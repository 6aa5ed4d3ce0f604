"""A field with a list that opens."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QComboBox, QStyledItemDelegate, QWidget

from app.ui.painting import paint_icon
from app.ui.theme.theme import Theme

_ICON_PX = 14


class ListBox(QComboBox):
    """One of some names, with an arrow in the theme's colours.

    Args:
        letters: Letters that always fit.
    """

    def __init__(self, theme: Theme, parent: QWidget, letters: int = 4) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setItemDelegate(
            QStyledItemDelegate(self)
        )  # Fusion's own paints a menu, in colours of its palette
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(letters)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the field, then the arrow, which a style sheet could only take from a file of one colour."""
        super().paintEvent(event)
        side = self._theme.type.px(_ICON_PX)
        paint_icon(QPainter(self), self._theme, self, "chevron-down", self.width() - side - 9, side)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the page: a passing pointer changes nothing."""
        event.ignore()
