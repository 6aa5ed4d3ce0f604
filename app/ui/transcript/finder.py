"""Steps through the places that a search finds in a conversation, in messages that are no widgets now too."""

from __future__ import annotations

import re
from collections.abc import Iterator

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.chat.conversation import Message
from app.chat.search import places, visible_text
from app.ui.transcript.transcript import Transcript

_PAUSE_MS = 250  # between counts while a reply is written


class Finder(QObject):
    """Counts, marks and goes to places.

    In a message that is no widget the places are counted in its Markdown without the marks, which may differ by a few
    from what it shows; when it is built, the count is put right.
    """

    changed = Signal()

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(transcript)
        self._transcript = transcript
        self._pattern: re.Pattern[str] | None = None
        self._known: dict[int, tuple[str, int]] = {}  # by message: its text, and how many places are in it
        self._at: tuple[int, int] | None = None  # message id, number of the place in it
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self.changed)
        transcript.messages_changed.connect(self._recount)

    @property
    def active(self) -> bool:
        """True if something is looked for."""
        return self._pattern is not None

    @property
    def total(self) -> int:
        """Number of places."""
        return sum(self._count(message) for message in self._transcript.messages) if self.active else 0

    @property
    def number(self) -> int:
        """Number of the current place, from 1; 0 where none is."""
        before = 0
        for message in self._transcript.messages if self._at is not None else ():
            if self._at is not None and message.id == self._at[0]:
                return before + self._at[1] + 1
            before += self._count(message)
        return 0

    def search(self, pattern: re.Pattern[str] | None, message_id: int | None = None) -> None:
        """Look for something else; None ends the search.

        Args:
            pattern: The pattern to look for.
            message_id: Message to begin with; by default the one where the search stands, or the one that is read.
        """
        begin = message_id
        if begin is None and self._at is not None:
            begin = self._at[0]
        self._choose(None)
        self._pattern = pattern
        self._known.clear()
        self._transcript.message_views.search(pattern)
        if pattern is not None:
            ids = [message.id for message in self._transcript.messages]
            at = ids.index(begin) if begin in ids else self._transcript.reading()
            self._go(self._around(at, 1, whole=True), 1)
        self.changed.emit()

    @Slot()
    def next(self) -> None:
        """Go to the next place; after the last one is the first."""
        self._step(1)

    @Slot()
    def previous(self) -> None:
        """Go to the place before; before the first one is the last."""
        self._step(-1)

    # --- inside -----------------------------------------------------------------------------------------------

    def _count(self, message: Message) -> int:
        view = self._transcript.view_of(message.id)
        if view is not None:
            self._known[message.id] = (message.content, view.found)
            return view.found
        known = self._known.get(message.id)
        if known is None or known[0] != message.content:
            assert self._pattern is not None
            shown = message.content if message.role == "user" else visible_text(message.content)
            known = self._known[message.id] = (message.content, len(places(self._pattern, shown)))
        return known[1]

    def _step(self, step: int) -> None:
        if self._pattern is None:
            return
        ids = [message.id for message in self._transcript.messages]
        if self._at is None or self._at[0] not in ids:
            self._go(self._around(self._transcript.reading(), step, whole=True), step)
        else:
            message_id, number = self._at
            view = self._transcript.view_of(message_id)
            if view is not None and 0 <= number + step < view.found:
                self._choose((message_id, number + step))
            else:
                self._go(self._around(ids.index(message_id), step, whole=False), step)
        self.changed.emit()

    def _around(self, at: int, step: int, whole: bool) -> Iterator[Message]:
        """Yield the messages from one on, or after it, round to it again."""
        messages = self._transcript.messages
        first = 0 if whole else 1
        for offset in range(first, len(messages) + first):
            yield messages[(at + step * offset) % len(messages)]

    def _go(self, messages: Iterator[Message], step: int) -> None:
        """Go to the first of these messages that has a place."""
        for message in messages:
            if not self._count(message):
                continue
            if self._transcript.view_of(message.id) is None:
                self._transcript.show_message(message.id)
            found = self._count(message)  # what it really shows
            if found:
                self._choose((message.id, 0 if step > 0 else found - 1))
                return
        self._choose(None)

    def _choose(self, place: tuple[int, int] | None) -> None:
        before, self._at = self._at, place
        if before is not None and (place is None or place[0] != before[0]):
            view = self._transcript.view_of(before[0])
            if view is not None:
                view.choose_found(None)
        if place is not None:
            view = self._transcript.view_of(place[0])
            if view is not None:
                self._transcript.reveal(view, view.choose_found(place[1]))

    @Slot()
    def _recount(self) -> None:
        if self.active and not self._pause.isActive():
            self._pause.start()
