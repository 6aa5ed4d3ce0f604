"""The transcript: the messages of one conversation, shown, exchanged, and changed while a reply is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QApplication, QTextEdit, QWidget

from app.chat.conversation import Message
from app.chat.engine_state import EngineState
from app.ui.theme.theme import Theme
from app.ui.transcript.message_column import ENOUGH, MessageColumn
from app.ui.transcript.message_views import MessageView
from app.words import tr

_LONGEST_PHRASE = 80


class ReadingPlace(QObject):
    """Remembers one place: the first message that begins in view, else the one at its top, or that the end is followed.

    One that begins in view is found again to the pixel, whatever the height of those above has become.
    """

    def __init__(self, column: MessageColumn) -> None:
        super().__init__(column)
        self._column = column
        self._top: tuple[int, int] | None = None
        self._follows = False

    @Slot()
    def remember(self) -> None:
        """Remember the view before a message is deleted."""
        top = self._column.first_beginning() or self._column.top_view()
        self._top = None if top is None else (top[0].message.id, top[1])
        self._follows = self._column.follows

    def forget(self) -> None:
        """Something else is to be read now."""
        self._top = None

    def go_back(self) -> None:
        """Go back to the view that was before the message was deleted."""
        if self._top is None:
            return
        if self._follows:
            self._column.jump_to_latest()
        else:
            self._column.show_message(*self._top)
        self._top = None


class Transcript(MessageColumn):
    """Messages, oldest on top.

    Only the messages near the end become widgets at once; others follow in short slices when the user scrolls
    to them, and those that were left far behind are given up.

    Args:
        alternatives: Ids of the versions of a message, itself included, oldest first.
    """

    messages_changed = Signal()

    def __init__(
        self,
        theme: Theme,
        engine: EngineState,
        alternatives: Callable[[int], Sequence[int]],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(theme, engine, alternatives, parent)
        self.setAccessibleName(tr("Transcript"))
        self.place = ReadingPlace(self)  # the part that was in view before a message was deleted

    @property
    def messages(self) -> list[Message]:
        """All messages, widgets or not, oldest first."""
        return self._span.messages

    def is_last(self, message_id: int) -> bool:
        """Return True if a message is the last one."""
        if self._span.newer:
            return self._span.newer[-1].id == message_id
        return bool(self.message_views.all) and self.message_views.all[-1].message.id == message_id

    # --- messages ---------------------------------------------------------------------------------------------

    def show_messages(self, messages: list[Message]) -> None:
        """Replace everything by these messages and go to the end."""
        self._builder.stop()
        self._span.reset(list(messages))
        self.follows = True
        self._build_above(ENOUGH)
        self._mark_last()
        self._arrange()
        self.messages_changed.emit()

    def replace_messages(self, messages: list[Message]) -> None:
        """Show another path: what it shares with the shown one stays, and stays where it is.

        A reply that begins is followed. Else the buttons under the first other message stay where they were, so that
        an arrow can be pressed again, and the keyboard goes on from the same button.
        """
        span = self._span
        shared = span.shared_with(messages)
        starts = len(messages) > shared and messages[-1].state.unfinished
        if shared < len(span.older) or (starts and span.newer):
            self.show_messages(messages)
            return
        at = min(shared - len(span.older), len(self.message_views.all))
        before = self.message_views.all[at] if at < len(self.message_views.all) else None
        focused = before.buttons.focused() if before is not None else None
        top = self.verticalScrollBar().value()
        place = (before.y() - top, before.y() + before.buttons.y() - top) if before is not None else (0, 0)
        keep = self.top_view()
        self._arranging = True
        rest = messages[len(span.older) + at :]
        span.older = messages[: len(span.older)]
        for view, message in zip(self.message_views.all[:at], messages[len(span.older) :], strict=False):
            self.message_views.set_message(view, message)
        fresh: list[MessageView] = []
        if before is not None or not span.newer:
            fresh = self._made(rest, everything=starts)
        if focused is not None and fresh:
            fresh[0].buttons.focus(focused)
        self.message_views.drop(at)
        self.message_views.all += fresh
        span.newer = rest[len(fresh) :]
        self._mark_last()
        if before is not None and fresh:
            swapped = before.message.role == fresh[0].message.role
            fresh[0].fit(self._column_width())
            keep = (fresh[0], place[1] - fresh[0].buttons.y() if swapped else place[0])
        self.follows = starts
        self._arranging = False
        self._arrange(keep)
        if not starts:
            self._scrolled(self.verticalScrollBar().value())
        self.messages_changed.emit()

    def add_message(self, message: Message) -> None:
        """Add a message at the end, and scroll to it if it is the user's."""
        if message.id in self.message_views:
            self.change_message(message)
            return
        if message.role == "user":
            self.place.forget()
        if self._span.newer:
            self._span.newer.append(message)
            if message.role == "user":
                self.show_messages(self._span.messages)
            else:
                self.message_views.make(message).hide()  # takes the text until it comes into view
            return
        if message.role == "user":
            self.follows = True
        self.message_views.all.append(self.message_views.make(message))
        self._mark_last()
        self._arrange()
        self._trimmer.start()
        self.messages_changed.emit()

    def change_message(self, message: Message) -> None:
        """Take a message's new state, figures, notices or text."""
        reply = self.message_views.reply(message.id)
        if reply is not None:
            reply.set_message(message)
            self.message_views.choose_blinking()
        self._span.change(message)
        self.messages_changed.emit()

    def change_text(self, message: Message) -> None:
        """Show the text of a reply that has grown."""
        reply = self.message_views.reply(message.id)
        if reply is not None:
            reply.change_text(message)

    def show_unconfirmed(self, message_id: int, text: str) -> None:
        """Show a guess of what a reply goes on with, in place of the last."""
        reply = self.message_views.reply(message_id)
        if reply is not None:
            reply.show_unconfirmed(text)

    def set_prefill(self, message_id: int, fraction: float, seconds_left: float | None = None) -> None:
        """Share of the prompt that is read, and seconds until all of it is."""
        reply = self.message_views.reply(message_id)
        if reply is not None:
            reply.set_prefill(fraction, seconds_left)

    def selected_phrase(self) -> str:
        """Return the selected text of a message if it is short and on one line."""
        focus = QApplication.focusWidget()
        inside = isinstance(focus, QTextEdit) and self.isAncestorOf(focus)
        selected = focus.textCursor().selectedText() if inside and isinstance(focus, QTextEdit) else ""
        return selected if selected.isprintable() and len(selected) <= _LONGEST_PHRASE else ""
