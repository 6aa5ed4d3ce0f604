"""The messages of the transcript that are widgets now: made, changed, taken away, and selected across their blocks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import QCursor, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QApplication, QScrollArea, QTextEdit, QWidget
from shiboken6 import isValid

from app.chat.conversation import Message, MessageState
from app.chat.engine_state import EngineState
from app.chat.markdown_blocks import joined_text
from app.ui.theme.theme import Theme, animation_ms
from app.ui.transcript.bubble import OwnMessage
from app.ui.transcript.reply import ReplyView
from app.ui.transcript.selectable import Selectable, SelectableText, SelectableWhole

_BLINK_MS = 530

MessageView = OwnMessage | ReplyView
_SCROLL_MS = 30
_SCROLL_PX = 24


class MessageViews(QObject):
    """Widgets of messages in their order; where they stand is the transcript's business.

    Args:
        alternatives: Ids of the versions of a message, itself included, oldest first.
        column: Parent of the widgets.
        parent: Of this object; takes the keyboard from widgets that are taken away.
    """

    height_changed = Signal(object)  # the view
    action_requested = Signal(int, object)  # message id, Action
    alternative_chosen = Signal(int)  # message id
    edited = Signal(int, str)  # message id, the other wording
    inspect_requested = Signal(int)  # a reply's id
    trouble_requested = Signal(int, object, object)  # message id, ErrorReport, Remedy
    link_activated = Signal(QUrl)
    tool_answered = Signal(int, int, str)  # message id, number of the step, `Answer`

    def __init__(
        self,
        theme: Theme,
        engine: EngineState,
        alternatives: Callable[[int], Sequence[int]],
        column: QWidget,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._engine = engine
        self._alternatives = alternatives
        self._column = column
        self._parent = parent
        self.all: list[MessageView] = []  # the widgets, oldest first
        # The model of a reply where another one wrote the reply before it, by the reply's id; else empty
        self.model_change: Callable[[int], str] = lambda _: ""
        # True of a chat that is one text, which replies go on with
        self.one_text: Callable[[], bool] = lambda: False
        self._by_id: dict[int, MessageView] = {}
        self._drafted_shown = False
        self._pattern: re.Pattern[str] | None = None
        self._lit = True
        self._saved = True
        self._blinker = QTimer(self, interval=_BLINK_MS)
        self._blinker.timeout.connect(self._blink)

    def __contains__(self, message_id: int) -> bool:
        """Return True if a message is a widget now."""
        return message_id in self._by_id

    def of(self, message_id: int) -> MessageView | None:
        """Return a message's widget, or None if it has none now."""
        return self._by_id.get(message_id)

    def reply(self, message_id: int) -> ReplyView | None:
        """Return a reply's widget, or None if it has none now or the message is the user's."""
        view = self._by_id.get(message_id)
        return view if isinstance(view, ReplyView) else None

    def make(self, message: Message) -> MessageView:
        """Make a message's widget; the caller puts it into `all`."""
        kept = self._by_id.get(message.id)
        if kept is not None and kept not in self.all:
            kept.show()
            return kept
        view: MessageView
        if message.role == "assistant":
            view = ReplyView(self._theme, message, self._engine, self._column)
            view.set_drafted_shown(self._drafted_shown)
            view.set_saved(self._saved)
            view.set_model_change(self.model_change(message.id))
            view.inspect_requested.connect(self.inspect_requested)
            view.link_activated.connect(self.link_activated)
            view.tool_answered.connect(self.tool_answered)
            view.trouble_requested.connect(self.trouble_requested)
        else:
            view = OwnMessage(self._theme, message, self._column)
        view.edited.connect(self.edited)
        view.height_changed.connect(self._tell_height)
        view.set_alternatives(self._alternatives(message.id))
        view.action_requested.connect(self.action_requested)
        view.alternative_chosen.connect(self.alternative_chosen)
        self._by_id[message.id] = view
        if self._pattern is not None:
            view.blocks.search(self._pattern)
        view.show()
        return view

    def set_saved(self, saved: bool) -> None:
        """Let replies that failed say that what was written is kept, or not: the disk refuses it."""
        self._saved = saved
        for view in self._by_id.values():
            if isinstance(view, ReplyView):
                view.set_saved(saved)

    def set_message(self, view: MessageView, message: Message) -> None:
        """Show another state of a message, and the versions that it has now."""
        view.set_message(message)
        if isinstance(view, ReplyView):
            view.set_model_change(self.model_change(message.id))
        view.set_alternatives(self._alternatives(message.id))

    def drop(self, first: int, keep_used: bool = False) -> list[Message]:
        """Take away the widgets from one on, and return their messages.

        Args:
            keep_used: True if that of a reply which is being written lives on unseen, to take its text, and one in
                which a message is worded anew; `make` brings them back.
        """
        gone, self.all = self.all[first:], self.all[:first]
        self._discard(gone, keep_used)
        return [view.message for view in gone]

    def clear(self) -> None:
        """Take away every widget, those that live on unseen too."""
        views, self.all = list(self._by_id.values()), []
        self._discard(views, keep_used=False)

    def drop_first(self, count: int) -> list[Message]:
        """Take away the first widgets, and return their messages."""
        gone, self.all = self.all[:count], self.all[count:]
        self._discard(gone, keep_used=True)
        return [view.message for view in gone]

    def _discard(self, views: Sequence[MessageView], keep_used: bool) -> None:
        """Hide and delete; what the keyboard was in goes to the transcript."""
        focus = QApplication.focusWidget()
        if focus is not None and any(view.isAncestorOf(focus) for view in views):
            self._parent.setFocus(Qt.FocusReason.OtherFocusReason)
        for view in views:
            view.hide()
            if keep_used and _is_used(view):
                continue
            view.deleteLater()
            if self._by_id.get(view.message.id) is view:
                del self._by_id[view.message.id]

    def mark_last(self, end_built: bool = True) -> None:
        """Mark the last message, which offers more actions and may have a caret that blinks, if it is a widget."""
        for view in self._replies():
            view.set_last(end_built and view is self.all[-1])
        one_text = self.one_text()
        for before, one, after in zip((None, *self.all), self.all, (*self.all[1:], None), strict=False):
            if isinstance(one, OwnMessage):
                one.set_joined(one_text and isinstance(after, ReplyView))
            else:
                one.set_before(before.text if one_text and isinstance(before, OwnMessage) else "")
        self.choose_blinking()

    def search(self, pattern: re.Pattern[str] | None) -> None:
        """Mark what a search finds in every message; None ends it."""
        if pattern is self._pattern:
            return
        self._pattern = pattern
        for view in self._by_id.values():
            view.blocks.search(pattern)

    def set_drafted_shown(self, shown: bool) -> None:
        """Colour what came from accepted drafts in finished replies."""
        self._drafted_shown = shown
        for view in self._replies():
            view.set_drafted_shown(shown)

    def set_engine(self, engine: EngineState) -> None:
        """Take the engine's new state."""
        self._engine = engine
        for view in self._replies():
            view.set_engine(engine)

    def choose_blinking(self) -> None:
        """Let the caret blink while a reply waits, and stay lit while text comes."""
        last = self.all[-1] if self.all else None
        waits = isinstance(last, ReplyView) and last.message.state is MessageState.WAITING
        if waits and not self._blinker.isActive() and animation_ms(_BLINK_MS):
            self._blinker.start()
        elif not waits and self._blinker.isActive():
            self._blinker.stop()
            self._lit = True
            if isinstance(last, ReplyView):
                last.set_caret_lit(True)

    def _replies(self) -> list[ReplyView]:
        return [view for view in self.all if isinstance(view, ReplyView)]

    @Slot()
    def _tell_height(self) -> None:
        self.height_changed.emit(self.sender())

    @Slot()
    def _blink(self) -> None:
        self._lit = not self._lit
        if self.all and isinstance(self.all[-1], ReplyView):
            self.all[-1].set_caret_lit(self._lit)


def _is_used(view: MessageView) -> bool:
    """Return True if something would be lost with a widget."""
    return view.editor is not None if isinstance(view, OwnMessage) else view.message.state.unfinished


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
        self._whole: MessageView | None = None  # the message that is selected as a whole
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
        parts = view.blocks.selectables()
        for one in parts:
            one.select_all()
        self._share(parts)
        self._whole = view

    def text(self) -> str:
        """Return the selected text, as Markdown if whole blocks are selected."""
        if self._whole is not None and isValid(self._whole):
            return self._whole.text
        found: list[tuple[str, str | None]] = []
        between: list[tuple[str, str | None]] = []  # what is no widget, after what is selected
        for part, joined in (part for view in self._views.all for part in view.blocks.parts()):
            if isinstance(part, str):
                between.append((part, joined))
            elif text := part.selected_source():
                found += [*(between if found else ()), (text, joined)]
                between = []
        return joined_text(found)

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
            yield from view.blocks.selectables()

    def _clear(self, but: Selectable | None = None) -> None:
        self._whole = None
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
