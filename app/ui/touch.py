"""Fingers on the window: what scrolls follows them, and the keyboard on the screen covers nothing."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRectF
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractItemView, QAbstractScrollArea, QScroller, QWidget


class Fingers(QObject):
    """Lets every area scroll under a finger; made only where there is a touch screen, since it sees each event."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        application = QGuiApplication.instance()
        assert application is not None
        application.installEventFilter(self)
        # Most systems make the window smaller themselves, and then this rectangle is empty.
        keyboard = QGuiApplication.inputMethod()
        keyboard.keyboardRectangleChanged.connect(lambda: self.stay_above(keyboard.keyboardRectangle()))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # Not when it is polished: rows would be laid out before they have their style.
        if event.type() == QEvent.Type.Show and isinstance(watched, QAbstractScrollArea):
            if isinstance(watched, QAbstractItemView):
                watched.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
            QScroller.grabGesture(watched.viewport(), QScroller.ScrollerGestureType.TouchGesture)
        return False

    def stay_above(self, keyboard: QRectF) -> None:
        """Keep the window's content above a keyboard that lies over it; an empty rectangle is no keyboard."""
        covered = 0 if keyboard.isEmpty() else max(0, self._window.height() - round(keyboard.top()))
        self._window.setContentsMargins(0, 0, 0, covered)
