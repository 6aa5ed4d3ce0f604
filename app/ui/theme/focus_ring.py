"""The ring around what has the keyboard's focus, and the base of the dialogs that show it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, QSize, Qt, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QDialog,
    QPlainTextEdit,
    QScrollArea,
    QSlider,
    QTextEdit,
    QWidget,
)
from shiboken6 import isValid

from app.ui.theme.theme import Theme

_GAP_PX = 2
_WIDTH_PX = 2
_RADIUS_PX = 10
_PLACED = (QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show)


@runtime_checkable
class Outlined(Protocol):
    """A widget of which the ring goes around a part."""

    def outline(self) -> QRect:
        """Return the part, in the widget's own px."""


def _in_window(widget: QWidget) -> QRect:
    return QRect(widget.mapTo(widget.window(), QPoint(0, 0)), widget.size())


def _outline(widget: QWidget) -> QRect:
    if isinstance(widget, Outlined):
        return widget.outline().translated(_in_window(widget).topLeft())
    return _in_window(widget)


def _wants_ring(widget: QWidget) -> bool:
    """Buttons, sliders, what only scrolls or is only read; fields show focus by their edge and lists by their rows."""
    if widget.property("shows-focus"):
        return False
    if isinstance(widget, (QPlainTextEdit, QTextEdit)):
        return widget.isReadOnly()
    return isinstance(widget, (QAbstractButton, QSlider, QScrollArea))


def _scroll_to(widget: QWidget) -> None:
    """Qt does so for Tab inside a scroll area, but not for Tab that comes into it from outside."""
    around = widget.parentWidget()
    while around is not None:
        if isinstance(around, QScrollArea):
            around.ensureWidgetVisible(widget)
        around = around.parentWidget()


class FocusRing(QWidget):
    """One per window: follows the focused button, transparent to the mouse.

    Fields and lists show focus themselves, and so does what says so by the property ``shows-focus``. The ring is
    there only when the focus came by Tab. The window says so by calling `move_by_keyboard` from its
    focusNextPrevChild. Around a button it lies outside, in what scrolls inside.
    """

    def __init__(self, window: QWidget, theme: Theme) -> None:
        super().__init__(window)
        self._theme = theme
        self._target: QWidget | None = None
        self._watched: list[QWidget] = []  # the target and what it lies in: scrolling moves only the latter
        self._seen = QRect()  # the part of the window that what scrolls around the target leaves it
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
        kind = event.type()
        if kind in _PLACED:
            self._place()
        elif watched is self._target and kind in (QEvent.Type.Hide, QEvent.Type.MouseButtonPress):
            self._leave()
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setClipRect(self._seen.translated(-self.pos()))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.color("acc"), _WIDTH_PX))
        inset = _WIDTH_PX / 2
        place = QRectF(self.rect()).adjusted(inset, inset, -inset, -inset)
        painter.drawRoundedRect(place, _RADIUS_PX, _RADIUS_PX)

    @Slot("QWidget*", "QWidget*")
    def _focus_changed(self, old: QWidget | None, now: QWidget | None) -> None:
        # A button that was pressed by its key and replaced by another of the same kind hands the ring on.
        handed_on = (
            old is self._target is not None and not QApplication.mouseButtons() and isinstance(now, QAbstractButton)
        )
        # Qt moves the focus on as by Tab where what has it is disabled or hidden, a button after a click among others.
        taken_away = old is not None and (not old.isEnabled() or old.isHidden())
        by_keyboard = self._by_keyboard and not taken_away
        self._leave()
        if now is None or now.window() is not self.window():
            return
        if by_keyboard:
            _scroll_to(now)
        if (by_keyboard or handed_on) and _wants_ring(now):
            self._target = now
            around: QWidget | None = now
            while around is not None and around is not self.window():
                self._watched.append(around)
                around.installEventFilter(self)
                around = around.parentWidget()
            self._place()

    def _leave(self) -> None:
        for watched in filter(isValid, self._watched):  # Qt moves the focus while widgets are destroyed, too
            watched.removeEventFilter(self)
        self._watched = []
        self._target = None
        self.hide()

    def _place(self) -> None:
        target = self._target
        if target is None or not target.isVisible():
            self.hide()
            return
        place = _outline(target)
        seen = self.window().rect()
        for around in self._watched[1:]:
            parent = around.parentWidget()
            if isinstance(parent, QAbstractScrollArea) and around is parent.viewport():
                seen = seen.intersected(_in_window(around))
        if not place.intersects(seen):
            self.hide()  # scrolled away
            return
        self._seen = seen
        margin = 0 if isinstance(target, QAbstractScrollArea) else _GAP_PX + _WIDTH_PX
        self.setGeometry(place.adjusted(-margin, -margin, margin, margin))
        self.raise_()
        self.show()


class RingedDialog(QDialog):
    """Base of every dialog."""

    def __init__(self, theme: Theme, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.ring = FocusRing(self, theme)

    def room(self, margin_px: int) -> QSize:
        """Size of the window around it, less a margin; any size where there is no window."""
        parent = self.parentWidget()
        return QSize(10_000, 10_000) if parent is None else parent.window().size() - QSize(margin_px, margin_px)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab ends up here whichever widget has the focus."""
        with self.ring.move_by_keyboard():
            return super().focusNextPrevChild(forward)
