"""Selecting across the blocks of messages: each block selects by itself, this carries a drag from one to the next."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, Slot
from PySide6.QtGui import QCursor, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QApplication, QScrollArea, QTextEdit, QWidget
from shiboken6 import isValid

from app.ui.transcript.bubble import OwnMessage
from app.ui.transcript.message_views import MessageView, MessageViews
from app.ui.transcript.selectable import Selectable, SelectableText, SelectableWhole

_SCROLL_MS = 30
_SCROLL_PX = 24


class TranscriptSelection(QObject):
    """Follows the pointer from the block where it was pressed; copies what is selected in all blocks as one text.

    The blocks themselves keep their selections, so nothing here can refer to a block that is gone.
    """

    def __init__(self, transcript: QScrollArea, views: MessageViews) -> None:
        super().__init__(transcript)
        self._transcript = transcript
        self._views = views
        self._watched: QWidget | None = None  # the block that has the keyboard
        self._origin: Selectable | None = None  # the block that a drag began in
        self._scroller = QTimer(self, interval=_SCROLL_MS)
        self._scroller.timeout.connect(self._scroll)
        QApplication.instance().focusChanged.connect(self._focus_changed)  # type: ignore[union-attr]

    @property
    def active(self) -> bool:
        """True if something is selected in more than one block."""
        return any(part.copies is not None for part in self._all())

    def select_message(self, part: Selectable) -> None:
        """Select the whole message that a block belongs to."""
        view = next((view for view in self._views.all if view.isAncestorOf(part)), None)
        if view is None:
            return
        self._clear()
        parts = list(_parts(view))
        for one in parts:
            one.select_all()
        self._share(parts)

    def text(self) -> str:
        """Return the selected text, as Markdown if whole blocks are selected."""
        return "\n\n".join(text for part in self._all() if (text := part.selected_source()))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle the pointer, and the keys of the block that has the keyboard."""
        part = _part_of(watched)
        if part is None:
            return False
        kind = event.type()
        if isinstance(event, QKeyEvent):
            whole = kind in (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress)
            if whole and event.matches(QKeySequence.StandardKey.SelectAll):
                if kind == QEvent.Type.KeyPress:
                    self.select_message(part)
                event.accept()
                return True
        elif isinstance(event, QMouseEvent):
            if kind == QEvent.Type.MouseButtonPress and event.button() == Qt.MouseButton.LeftButton:
                return self._press(part, event)
            if kind == QEvent.Type.MouseMove and event.buttons() & Qt.MouseButton.LeftButton:
                return self._drag(event.globalPosition().toPoint())
            if kind == QEvent.Type.MouseButtonRelease:
                self._scroller.stop()
        return False

    # --- the pointer ------------------------------------------------------------------------------------------

    def _press(self, part: Selectable, event: QMouseEvent) -> bool:
        further = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        if further and self._origin is not None and isValid(self._origin) and self._origin is not part:
            return self._drag(event.globalPosition().toPoint())
        self._clear()  # here too, or Qt would carry the selected words away
        self._origin = part
        return False

    def _drag(self, place: QPoint) -> bool:
        """Select from where the drag began to a place; False where one block can do that by itself."""
        if self._origin is None or not isValid(self._origin):
            return False
        parts = list(self._all())
        if self._origin not in parts:
            return False
        self._follow(place)
        start, end = parts.index(self._origin), _at(parts, place)
        if start == end:
            self._clear(but=self._origin)
            return isinstance(self._origin, SelectableWhole)
        first, last = min(start, end), max(start, end)
        for at, part in enumerate(parts):
            if at < first or at > last:
                part.select_none()
            elif at == start:
                part.select_from_anchor(to_end=end > start)
            elif at == end:
                part.select_up_to(place, from_start=end > start)
            else:
                part.select_all()
        self._share(parts[first : last + 1])
        return True

    def _follow(self, place: QPoint) -> None:
        """Scroll while the pointer is above or below what is in view."""
        inside = self._transcript.viewport().mapFromGlobal(place).y()
        outside = inside < 0 or inside > self._transcript.viewport().height()
        if outside and not self._scroller.isActive():
            self._scroller.start()
        elif not outside:
            self._scroller.stop()

    @Slot()
    def _scroll(self) -> None:
        place = QCursor.pos()
        above = self._transcript.viewport().mapFromGlobal(place).y() < 0
        bar = self._transcript.verticalScrollBar()
        bar.setValue(bar.value() + (-_SCROLL_PX if above else _SCROLL_PX))
        self._drag(place)

    # --- blocks -----------------------------------------------------------------------------------------------

    def _all(self) -> Iterator[Selectable]:
        for view in self._views.all:
            yield from _parts(view)

    def _clear(self, but: Selectable | None = None) -> None:
        for part in self._all():
            part.copies = None
            if part is not but:
                part.select_none()

    def _share(self, parts: list[Selectable]) -> None:
        """Whichever of these has the keyboard copies them all."""
        for part in parts:
            part.copies = self.text

    @Slot(QWidget, QWidget)
    def _focus_changed(self, before: QWidget | None, now: QWidget | None) -> None:
        """Watch the block that has the keyboard now, and no other."""
        if self._watched is not None and isValid(self._watched):
            self._watch(self._watched, False)
        self._watched = None
        if now is not None and _part_of(now) is not None and self._transcript.isAncestorOf(now):
            self._watched = now
            self._watch(now, True)
        elif now is self._transcript and QApplication.mouseButtons() & Qt.MouseButton.LeftButton:
            self._clear()

    def _watch(self, widget: QWidget, on: bool) -> None:
        watched = [widget, widget.viewport()] if isinstance(widget, QTextEdit) else [widget]
        for one in watched:
            if on:
                one.installEventFilter(self)
            else:
                one.removeEventFilter(self)


def _parts(view: MessageView) -> Iterator[Selectable]:
    """Yield the blocks of a message that can be selected, in order."""
    if isinstance(view, OwnMessage):
        found: list[Selectable] = [view.body]
    else:
        found = [part for widget in view.blocks.widgets for part in widget.selectables()]
    yield from (part for part in found if not part.isHidden())


def _part_of(watched: QObject) -> Selectable | None:
    if isinstance(watched, (SelectableText, SelectableWhole)):
        return watched
    parent = watched.parent()
    return parent if isinstance(parent, SelectableText) else None


def _at(parts: list[Selectable], place: QPoint) -> int:
    """Block that a place is in, or below."""
    found = 0
    for at, part in enumerate(parts):
        if part.mapToGlobal(QPoint(0, 0)).y() <= place.y():
            found = at
    return found
