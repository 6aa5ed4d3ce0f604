"""The ring around what has the keyboard's focus. QSS outlines are square and lie inside, so it is a widget."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, Qt, Slot
from PySide6.QtGui import QFocusEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from app.ui.theme.theme import Theme

_KEYBOARD = frozenset(
    {
        Qt.FocusReason.TabFocusReason,
        Qt.FocusReason.BacktabFocusReason,
        Qt.FocusReason.ShortcutFocusReason,
    }
)
_GAP_PX = 2
_WIDTH_PX = 2


class FocusRing(QWidget):
    """One per window: follows the focused button, transparent to the mouse.

    Fields show focus by their own edge and lists by their rows, so only buttons and widgets with the
    property ``ring`` get it, and only when the focus came by the keyboard.
    """

    def __init__(self, window: QWidget, theme: Theme) -> None:
        super().__init__(window)
        self._theme = theme
        self._target: QWidget | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._leave)
        app.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """See keyboard focus arrive, and the target move or vanish."""
        kind = event.type()
        if kind == QEvent.Type.FocusIn and isinstance(watched, QWidget):
            assert isinstance(event, QFocusEvent)
            if event.reason() in _KEYBOARD and watched.window() is self.window() and _takes_ring(watched):
                self._target = watched
                self._place()
        elif watched is self._target:
            if kind in (QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show):
                self._place()
            elif kind in (QEvent.Type.Hide, QEvent.Type.FocusOut, QEvent.Type.MouseButtonPress):
                self._target = None
                self.hide()
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the ring."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.color("acc"), _WIDTH_PX))
        inset = _WIDTH_PX / 2
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(inset, inset, -inset, -inset), 10, 10)

    @Slot("QWidget*", "QWidget*")
    def _leave(self, old: QWidget | None, now: QWidget | None) -> None:
        if now is not self._target:
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


def _takes_ring(widget: QWidget) -> bool:
    return isinstance(widget, QAbstractButton) or bool(widget.property("ring"))
