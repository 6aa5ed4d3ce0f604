"""The ring around what has the keyboard's focus. QSS outlines are square and lie inside, so it is a widget."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, Qt, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from app.ui.theme.theme import Theme

_GAP_PX = 2
_WIDTH_PX = 2


class FocusRing(QWidget):
    """One per window: follows the focused button, transparent to the mouse.

    Fields show focus by their own edge and lists by their rows, so only buttons get it (but for those that show it
    themselves, and say so by the property ``shows-focus``), and only when the focus came by Tab. The window says so by
    calling `move_by_keyboard` from its focusNextPrevChild.
    """

    def __init__(self, window: QWidget, theme: Theme) -> None:
        super().__init__(window)
        self._theme = theme
        self._target: QWidget | None = None
        self._by_keyboard = False
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._focus_changed)

    @contextmanager
    def move_by_keyboard(self) -> Iterator[None]:
        """Focus that changes inside this context came by Tab."""
        self._by_keyboard = True
        try:
            yield
        finally:
            self._by_keyboard = False

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the target; a click on it takes the ring away."""
        kind = event.type()
        if kind in (QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show):
            self._place()
        elif kind in (QEvent.Type.Hide, QEvent.Type.MouseButtonPress):
            self._leave()
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the ring."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.color("acc"), _WIDTH_PX))
        inset = _WIDTH_PX / 2
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(inset, inset, -inset, -inset), 10, 10)

    @Slot("QWidget*", "QWidget*")
    def _focus_changed(self, old: QWidget | None, now: QWidget | None) -> None:
        # A button that was pressed by its key and replaced by another of the same kind hands the ring on.
        handed_on = old is self._target is not None and not QApplication.mouseButtons()
        self._leave()
        if (
            (self._by_keyboard or handed_on)
            and isinstance(now, QAbstractButton)
            and not now.property("shows-focus")
            and now.window() is self.window()
        ):
            self._target = now
            now.installEventFilter(self)
            self._place()

    def _leave(self) -> None:
        if self._target is not None:
            self._target.removeEventFilter(self)
            self._target = None
        self.hide()

    def _place(self) -> None:
        target = self._target
        if target is None or not target.isVisible():
            self.hide()
            return
        corner = target.mapTo(self.window(), QPoint(0, 0))
        margin = _GAP_PX + _WIDTH_PX
        self.setGeometry(QRect(corner, target.size()).adjusted(-margin, -margin, margin, margin))
        self.raise_()
        self.show()
