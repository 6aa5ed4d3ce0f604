"""A panel at a side of the window: shown, hidden or sliding, and the edge that changes its width."""

from __future__ import annotations

from PySide6.QtCore import QEasingCurve, QObject, Qt, QVariantAnimation, Signal, Slot
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.ui.theme.theme import Theme, animation_ms

_SLIDE_MS = 160
_EDGE_PX = 7
_BESIDE_BAR_PX = 4  # at the right, where the scroll bar of a list stands
_STEP_PX = 20


class Pane(QObject):
    """A choice for wide windows, another one for narrow ones, where the panel is an overlay."""

    moved = Signal()

    def __init__(self, shown: bool, parent: QObject) -> None:
        super().__init__(parent)
        self.shown = shown  # the choice where the panel stands beside the page
        self.overlay = False  # the choice where it is an overlay
        self.narrow = False  # True if it is one now
        self.share = 1.0 if shown else 0.0  # part of the panel that is seen, 0 to 1
        self._motion = QVariantAnimation(self)
        self._motion.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._motion.valueChanged.connect(self._slide)
        self._motion.finished.connect(self.settle)

    @property
    def visible(self) -> bool:
        """True if it is to be seen."""
        return self.overlay if self.narrow else self.shown

    @property
    def moving(self) -> bool:
        """True if it slides."""
        return self._motion.state() == QVariantAnimation.State.Running

    def set_visible(self, visible: bool) -> None:
        """Slide to where it is, or is not, to be seen."""
        if self.narrow:
            self.overlay = visible
        else:
            self.shown = visible
        self._motion.stop()
        duration = animation_ms(_SLIDE_MS)
        if not duration:
            self.settle()
            return
        self._motion.setDuration(duration)
        self._motion.setStartValue(self.share)
        self._motion.setEndValue(1.0 if visible else 0.0)
        self._motion.start()

    @Slot()
    def settle(self) -> None:
        """Be there at once."""
        self._motion.stop()
        self._slide(1.0 if self.visible else 0.0)

    @Slot(object)
    def _slide(self, share: float) -> None:
        self.share = float(share)
        self.moved.emit()


class PaneEdge(QWidget):
    """Says which width is wanted, and leaves it to others to keep it within bounds.

    Args:
        panel: The panel; the edge stands at its left or at its right.
        name: Name for screen readers.
        at_left: True if the panel has it at its left, which is so for one at the window's right.
    """

    width_wanted = Signal(int)

    def __init__(self, theme: Theme, panel: QWidget, name: str, at_left: bool) -> None:
        super().__init__(panel)
        self._theme = theme
        # The way along x that makes the panel wider; panels change sides where lines begin at the right.
        self._outward = -1 if at_left != self.isRightToLeft() else 1
        self._panel = panel
        self._grip: float | None = None
        self.setCursor(Qt.CursorShape.SplitHCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(name)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._grip = event.globalPosition().x() - self._outward * self._panel.width()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._grip is not None:
            self.width_wanted.emit(round(self._outward * (event.globalPosition().x() - self._grip)))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._grip = None

    def place(self) -> None:
        """Stand at the panel's edge, above what is in it."""
        width = _EDGE_PX if self._outward < 0 else _BESIDE_BAR_PX
        left = 0 if self._outward < 0 else self._panel.width() - width
        self.setGeometry(left, 0, width, self._panel.height())
        self.raise_()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Left: -_STEP_PX, Qt.Key.Key_Right: _STEP_PX}
        step = steps.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
        else:
            self.width_wanted.emit(self._panel.width() + self._outward * step)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.hasFocus():
            left = 0 if self._outward < 0 else self.width() - 2
            QPainter(self).fillRect(left, 0, 2, self.height(), self._theme.color("acc"))
