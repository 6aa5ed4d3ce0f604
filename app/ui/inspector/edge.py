"""The left edge of the inspector: dragged, or moved by the arrow keys, it changes the panel's width."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.ui.theme.theme import Theme
from app.words import tr

EDGE_PX = 7
_STEP_PX = 20


class Edge(QWidget):
    """Says which width is wanted, and leaves it to others to keep it within bounds."""

    width_wanted = Signal(int)

    def __init__(self, theme: Theme, panel: QWidget) -> None:
        super().__init__(panel)
        self._theme = theme
        self._panel = panel
        self._grip: float | None = None
        self.setCursor(Qt.CursorShape.SplitHCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(tr("Width of the inspector: left and right change it"))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold."""
        self._grip = self._outwards() * event.globalPosition().x() + self._panel.width()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follow the pointer."""
        if self._grip is not None:
            self.width_wanted.emit(round(self._grip - self._outwards() * event.globalPosition().x()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go."""
        self._grip = None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left makes the panel wider, right narrower."""
        steps = {Qt.Key.Key_Left: _STEP_PX, Qt.Key.Key_Right: -_STEP_PX}
        step = steps.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
        else:
            self.width_wanted.emit(self._panel.width() + self._outwards() * step)

    def _outwards(self) -> int:
        """1 where the panel grows to the left, -1 where it does to the right."""
        return -1 if self.layoutDirection() is Qt.LayoutDirection.RightToLeft else 1

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show where the keyboard is."""
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """And that it is elsewhere."""
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Nothing, but for the keyboard's focus."""
        if self.hasFocus():
            QPainter(self).fillRect(0, 0, 2, self.height(), self._theme.color("acc"))
