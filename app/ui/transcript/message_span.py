"""Run of messages that are widgets: those around the view; older and newer ones are not."""

from __future__ import annotations

from itertools import takewhile

from app.chat.conversation import Message
from app.ui.transcript.message_views import MessageView, MessageViews


class MessageSpan:
    """Grows and shrinks at both ends; where widgets stand is the transcript's business.

    Attributes:
        older: The messages above those that are widgets, oldest first.
        newer: The messages below them, oldest first.
    """

    def __init__(self, views: MessageViews) -> None:
        self._views = views
        self.older: list[Message] = []
        self.newer: list[Message] = []

    @property
    def messages(self) -> list[Message]:
        """Every message, oldest first."""
        return [*self.older, *(view.message for view in self._views.all), *self.newer]

    def reset(self, messages: list[Message], at: int | None = None, keep_used: bool = False) -> None:
        """Take all widgets away, but perhaps those in use.

        Args:
            messages: Every message.
            at: Widgets are built up from here, and down from here; the end by default.
            keep_used: See `MessageViews.drop`.
        """
        if keep_used:
            self._views.drop(0, keep_used)
        else:
            self._views.clear()
        at = len(messages) if at is None else at
        self.older, self.newer = messages[:at], messages[at:]

    def build_older(self) -> MessageView:
        """Make a widget of the newest of the older messages."""
        view = self._views.make(self.older.pop())
        self._views.all.insert(0, view)
        return view

    def build_newer(self) -> MessageView:
        """Make a widget of the oldest of the newer messages."""
        view = self._views.make(self.newer.pop(0))
        self._views.all.append(view)
        return view

    def drop_above(self, count: int) -> None:
        """Take away the first widgets."""
        self.older += self._views.drop_first(count)

    def drop_below(self, first: int) -> None:
        """Take away the widgets from one on; the last one stays alive while its reply is written."""
        self.newer[:0] = self._views.drop(first, keep_used=True)

    def shared_with(self, messages: list[Message]) -> int:
        """Return how many messages, from the first on, can stay as they are."""
        return sum(1 for _ in takewhile(_is_same, zip(self.messages, messages, strict=False)))

    def change(self, message: Message) -> None:
        """Take the new state of a message that has no widget."""
        self.older = [message if old.id == message.id else old for old in self.older]
        self.newer = [message if old.id == message.id else old for old in self.newer]


def _is_same(pair: tuple[Message, Message]) -> bool:
    """Return True if a view of the first message can show the second: not where a finished reply goes on."""
    before, after = pair
    return before.id == after.id and (before.state.unfinished or not after.state.unfinished)
