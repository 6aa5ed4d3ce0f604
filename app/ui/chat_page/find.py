"""Finding words in the chat that is shown: the bar above the messages, and the steps through the places found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QWidget

from app.chat.conversation import Message
from app.chat.search import SearchHit, phrase_pattern, places, search_terms, terms_pattern, visible_text
from app.ui.chat_page.page import ChatPage
from app.ui.chats.actions import ChatShelf
from app.ui.commands import CommandGroup, Commands
from app.ui.parts import PlainLabel, filled, icon_button, search_field
from app.ui.sidebar.sidebar import Sidebar
from app.ui.theme.theme import Theme
from app.ui.transcript.transcript import Transcript
from app.words import tr

_BUTTON_PX = 28
_FIELD_PX = 320
_PAUSE_MS = 250  # between counts while a reply is written
_TURN, _PIECE = 50_000, 8_000  # characters that are searched in one turn of the event loop, and at once


class FindBar(QFrame):
    """A field, how much was found, and the ways to the places before and after."""

    typed = Signal(str)
    next_requested = Signal()
    previous_requested = Signal()
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("kind", "find")
        self.setAccessibleName(tr("Find in this chat"))
        self.field = search_field(theme, tr("Find in this chat"), self, clears=False)
        self.field.textEdited.connect(self.typed)
        self.field.installEventFilter(self)
        self.said = PlainLabel(self, kind="meter")
        self.previous_button, self.next_button, self._close = (
            icon_button(theme, icon, name, self, pressed, side_px=_BUTTON_PX)
            for icon, name, pressed in (
                ("chevron-up", tr("Previous place"), self.previous_requested),
                ("chevron-down", tr("Next place"), self.next_requested),
                ("x", tr("Close"), self.left),
            )
        )
        row = filled(QHBoxLayout(self), (self.field, 1), 8, self.said, margins=(16, 7, 12, 7), spacing=4)
        row.addStretch(0)
        filled(row, 4, self.previous_button, self.next_button, self._close)
        theme.changed.connect(self._fit)
        self._fit()
        self.show_count(0, 0)
        self.hide()

    def open(self) -> None:
        """Show the bar, ready for typing; what stood in it is there to be replaced."""
        self.show()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def show_count(self, number: int, total: int) -> None:
        """Say which of how many places is shown."""
        words = tr("{number} of {total}", number=number, total=total) if total else tr("Nothing found")
        self.said.setText(words if self.field.text().strip() else "")
        self.previous_button.setEnabled(total > 0)
        self.next_button.setEnabled(total > 0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                back = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
                (self.previous_requested if back else self.next_requested).emit()
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.left.emit()
                return True
        return False

    def _fit(self) -> None:
        self.field.setMaximumWidth(self._theme.type.px(_FIELD_PX))


class Known(NamedTuple):
    """The count of places in a message that is no widget."""

    read: int  # characters
    found: int  # places in them
    in_thought: bool  # True if they end within a thought


_UNKNOWN = Known(0, 0, False)


class Wanted(NamedTuple):
    """A place to go to when it is found."""

    messages: Iterator[Message]  # that are left to look in
    message: Message
    step: int  # -1 for the last place of the message, 1 for the first
    first: int  # number of the first place that will do


class Finder(QObject):
    """Counts, marks and goes to places, some at a time.

    In a message that is no widget the places are counted in its Markdown without the marks, which may differ by a few
    from what it shows; when it is built, the count is put right.
    """

    changed = Signal()

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(transcript)
        self._transcript = transcript
        self._pattern: re.Pattern[str] | None = None
        self._known: dict[int, Known] = {}  # by message, of those that are no widgets
        self._at: tuple[int, int] | None = None  # message id, number of the place in it
        self._wanted: Wanted | None = None
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self._work)
        self._worker = QTimer(self, singleShot=True, interval=0)
        self._worker.timeout.connect(self._work)
        transcript.messages_changed.connect(self._recount)

    @property
    def active(self) -> bool:
        """True if something is looked for."""
        return self._pattern is not None

    @property
    def total(self) -> int:
        """Number of places that are counted so far."""
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
        """Look for something else from a message on, by default the one that is read; None ends the search."""
        begin = message_id
        if begin is None and self._at is not None:
            begin = self._at[0]
        self._choose(None)
        self._pattern, self._wanted = pattern, None
        self._known.clear()
        self._transcript.message_views.search(pattern)
        if pattern is not None:
            ids = [message.id for message in self._transcript.messages]
            at = ids.index(begin) if begin in ids else self._transcript.reading()
            self._go(self._around(at, 1, whole=True), 1)
        self._work()

    @Slot()
    def next(self) -> None:
        """Go to the next place; after the last one is the first."""
        self._step(1)

    @Slot()
    def previous(self) -> None:
        """Go to the place before; before the first one is the last."""
        self._step(-1)

    @Slot()
    def _work(self) -> None:
        """Count the places in some more text, and look for the one to go to."""
        left = _TURN
        while left > 0 and self.active:
            messages = self._transcript.messages
            spent = (
                self._seek(self._wanted)
                if self._wanted is not None
                else max(map(self._count_more, messages), default=0)
            )
            left -= spent
            if not spent:
                break
        if left <= 0:
            self._worker.start()
        self.changed.emit()

    def _count(self, message: Message) -> int:
        """Places that are counted so far in a message."""
        view = self._transcript.view_of(message.id)
        return self._known.get(message.id, _UNKNOWN).found if view is None else view.blocks.found

    def _count_more(self, message: Message) -> int:
        """Count the places in a further part of a message; return its length, or 0 if all of it is counted."""
        view = self._transcript.view_of(message.id)
        if view is not None:
            return view.blocks.count_more()
        known, text = self._known.get(message.id, _UNKNOWN), message.content
        if known.read > len(text):
            known = _UNKNOWN  # another text
        if self._pattern is None or known.read == len(text):
            return 0
        end = text.rfind("\n", known.read, known.read + _PIECE) + 1 or known.read + _PIECE
        part = text[known.read : end]
        thinks, thought = part.rfind("<think>"), part.rfind("</think>")
        if message.role != "user":
            part = visible_text("<think>" * known.in_thought + part)
        found = known.found + len(places(self._pattern, part))
        in_thought = thinks > thought or (known.in_thought and thinks == thought)
        self._known[message.id] = Known(min(end, len(text)), found, in_thought)
        return end - known.read

    def _step(self, step: int) -> None:
        if self._pattern is None:
            return
        messages = self._transcript.messages
        ids = [message.id for message in messages]
        if self._at is None or self._at[0] not in ids:
            self._go(self._around(self._transcript.reading(), step, whole=True), step)
        else:
            message_id, number = self._at
            view, at = self._transcript.view_of(message_id), ids.index(message_id)
            if view is not None and 0 <= number + step < view.blocks.found:
                self._choose((message_id, number + step))
            elif step > 0:
                self._go(chain((messages[at],), self._around(at, step, whole=False)), step, number + 1)
            else:
                self._go(self._around(at, step, whole=False), step)
        self._work()

    def _around(self, at: int, step: int, whole: bool) -> Iterator[Message]:
        """Yield the messages from one on, or after it, round to it again."""
        messages = self._transcript.messages
        first = 0 if whole else 1
        for offset in range(first, len(messages) + first):
            yield messages[(at + step * offset) % len(messages)]

    def _go(self, messages: Iterator[Message], step: int, first: int = 0) -> None:
        """Go to a place of the next message that has one, as soon as it is found."""
        message = next(messages, None)
        self._wanted = None if message is None else Wanted(messages, message, step, first)
        if message is None:
            self._choose(None)

    def _seek(self, wanted: Wanted) -> int:
        """Look for a place in some more of a message; return how much, at least 1."""
        messages, message, step, first = wanted
        spent = self._count_more(message)
        found = self._count(message)
        if found > first if step > 0 else found and not spent:
            if self._transcript.view_of(message.id) is None:
                self._transcript.show_message(message.id)  # what it shows is counted anew
            else:
                self._wanted = None
                self._choose((message.id, first if step > 0 else found - 1))
        elif not spent:
            self._go(messages, step)
        return spent or 1

    def _choose(self, place: tuple[int, int] | None) -> None:
        before, self._at = self._at, place
        if before is not None and (place is None or place[0] != before[0]):
            view = self._transcript.view_of(before[0])
            if view is not None:
                view.blocks.choose_found(None)
        if place is not None:
            view = self._transcript.view_of(place[0])
            if view is not None:
                found = view.blocks.choose_found(place[1])
                self._transcript.reveal(view, found.translated(view.blocks.mapTo(view, QPoint(0, 0))))

    @Slot()
    def _recount(self) -> None:
        if self.active and not self._pause.isActive():
            self._pause.start()


class FindInChat(QObject):
    """Stands between the bar, the transcript and the sidebar's search."""

    def __init__(self, theme: Theme, page: ChatPage, sidebar: Sidebar, shelf: ChatShelf) -> None:
        super().__init__(page)
        self._page = page
        self._sidebar = sidebar
        self._shelf = shelf
        self.finder = Finder(page.transcript)
        self.bar = FindBar(theme)
        column = page.layout()
        assert isinstance(column, QBoxLayout)
        column.insertWidget(1, self.bar)
        self.bar.typed.connect(self._search)
        self.bar.next_requested.connect(self.finder.next)
        self.bar.previous_requested.connect(self.finder.previous)
        self.bar.left.connect(self.close)
        self.finder.changed.connect(self._show_count)
        sidebar.list.hit_chosen.connect(self._show_hit)  # after the shelf, which opens the chat
        sidebar.search_changed.connect(self._search_changed)
        page.conversation_shown.connect(self._conversation_shown)

    def add_commands(self, commands: Commands) -> None:
        """Declare what can be done."""
        messages = CommandGroup.MESSAGE
        commands.add("find", tr("Find in this chat"), self.open, messages, ("Ctrl+F",))
        self._steps = (
            commands.add("find-next", tr("Next place found"), self.finder.next, messages, ("F3", "Ctrl+G")),
            commands.add("find-previous", tr("Previous place found"), self.finder.previous, messages,
                         ("Shift+F3", "Ctrl+Shift+G")),
        )  # fmt: skip
        self._show_count()

    @Slot()
    def open(self) -> None:
        """Show the bar; what is selected in a message is what is looked for."""
        self._shelf.chat_wanted.emit()
        selected = self._page.transcript.selected_phrase()
        if selected:
            self.bar.field.setText(selected)
        self.bar.open()
        self._search(self.bar.field.text())

    @Slot()
    def close(self) -> None:
        """Put the bar and the marks away."""
        self.bar.hide()
        self.finder.search(None)
        self._page.composer.setFocus()

    @Slot(str)
    def _search(self, typed: str) -> None:
        self.finder.search(phrase_pattern(typed))

    @Slot(object)
    def _show_hit(self, hit: SearchHit) -> None:
        """Mark the words that led to a message in it, and go to the first."""
        if hit.conversation_id == self._page.current:
            self.bar.hide()
            self.finder.search(terms_pattern(search_terms(self._sidebar.search.text())), hit.message_id)

    @Slot(str)
    def _search_changed(self, typed: str) -> None:
        if not typed.strip() and self.bar.isHidden() and self.finder.active:
            self.finder.search(None)

    @Slot(object)
    def _conversation_shown(self, conversation_id: int | None) -> None:
        """Another chat: the words in the bar are looked for there; those of another chat's hit are not."""
        if self.bar.isHidden():
            self.finder.search(None)
        elif self.finder.active:
            self._search(self.bar.field.text())

    @Slot()
    def _show_count(self) -> None:
        total = self.finder.total
        self.bar.show_count(self.finder.number, total)
        for action in self._steps:
            action.setEnabled(total > 0)
