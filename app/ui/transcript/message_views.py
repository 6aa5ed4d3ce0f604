"""The messages of the transcript that are widgets now: made, changed, taken away, and which of them has the caret."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt, QTimer, QUrl, Signal, Slot
from PySide6.QtWidgets import QApplication, QWidget

from app.chat.conversation import Message, MessageState
from app.chat.engine_state import EngineState
from app.ui.theme.theme import Theme, animation_ms
from app.ui.transcript.bubble import OwnMessage
from app.ui.transcript.reply import ReplyView

_BLINK_MS = 530

MessageView = OwnMessage | ReplyView


class MessageViews(QObject):
    """Widgets of messages in their order; where they stand is the transcript's business.

    Args:
        engine: The engine's state.
        alternatives: Ids of the versions of a message, itself included, oldest first.
        column: Parent of the widgets.
        parent: Of this object; takes the keyboard from widgets that are taken away.

    Attributes:
        all: The widgets, oldest first.
        model_change: The model of a reply where another one wrote the reply before it, by the reply's id; else empty.
        one_text: True of a chat that is one text, which replies go on with.
    """

    height_changed = Signal(object)  # the view
    action_requested = Signal(int, object)  # message id, Action
    alternative_chosen = Signal(int)  # message id
    edited = Signal(int, str)  # message id, the other wording
    inspect_requested = Signal(int)  # a reply's id
    trouble_requested = Signal(int, object, object)  # message id, ErrorReport, Remedy
    link_activated = Signal(QUrl)

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
        self.all: list[MessageView] = []
        self.model_change: Callable[[int], str] = lambda _: ""
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
            view.search(self._pattern)
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
            first: The first to go.
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
        """Mark the last message, which offers more actions and may have a caret that blinks.

        Args:
            end_built: True if the conversation's last message is a widget.
        """
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
            view.search(pattern)

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
