"""Unsent messages of all chats, kept on the disk too."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bridge.journal import Journal
from app.chat.unsent import Unsent
from engine.errors import StorageError, TenonError
from engine.json_text import whole_characters
from engine.messages import Attachment

# A change is written at once, but a text of many pages, which is written as a whole, not at each key.
_CHARACTERS_PER_MS = 500
_LONGEST_MS = 200
_RETRY_MS = 5000


class UnsentMessages(QObject):
    """Remembers each change and writes it, as fast as the disk takes it. None is the chat to come.

    Args:
        journal: Writes.
        read: Reads what the disk holds of a chat; called once for each that is shown.

    Attributes:
        typed: True if anything was typed or attached in this session.
    """

    problem = Signal(str)  # one sentence: something kept cannot be read
    writing = Signal()  # what is not kept yet is kept now, or lost

    def __init__(
        self, journal: Journal, read: Callable[[int | None], Unsent], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._journal = journal
        self._read = read
        self._known: dict[int | None, Unsent] = {}
        self._changed: set[int | None] = set()
        self._files_on_disk: dict[int | None, tuple[Attachment, ...]] = {}  # or on their way
        self._writing = 0
        self.typed = False
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.write)

    def of(self, conversation_id: int | None) -> Unsent:
        """Unsent message of a chat, as it was left."""
        if conversation_id not in self._known:
            try:
                kept = self._read(conversation_id)
            except StorageError as error:
                self.problem.emit(error.message)
                kept = Unsent()
            self._known[conversation_id] = kept
            self._files_on_disk[conversation_id] = kept.attachments
        return self._known[conversation_id]

    def keep(self, conversation_id: int | None, unsent: Unsent) -> None:
        """Keep what the user has typed or attached."""
        if unsent == self.of(conversation_id):
            return
        self.typed = True
        self._known[conversation_id] = unsent
        self._changed.add(conversation_id)
        self._write_soon()

    def clear(self) -> None:
        """Forget everything; the disk is told elsewhere."""
        self._timer.stop()
        self._changed.clear()
        self._files_on_disk.clear()
        self._journal.unsent_refused.clear()
        self._known = {None: Unsent()}

    @Slot()
    def write(self) -> None:
        """Write what has changed now: it was sent, or the program ends."""
        self.writing.emit()
        self._timer.stop()
        for conversation_id in self._changed:
            self._write(conversation_id)
        self._changed.clear()

    def _write_soon(self) -> None:
        if self._changed and not self._writing and not self._timer.isActive():
            length = max(len(self._known[chat].text) for chat in self._changed)
            self._timer.start(min(length // _CHARACTERS_PER_MS, _LONGEST_MS))

    def _write(self, conversation_id: int | None) -> None:
        unsent = self._known[conversation_id]
        files = unsent.attachments
        written = self._files_on_disk.get(conversation_id) is files
        self._files_on_disk[conversation_id] = files

        self._writing += 1

        def done(error: TenonError | None) -> None:
            self._writing -= 1
            self._journal.unsent_refused.discard(conversation_id)
            if error is not None and conversation_id in self._known:
                self._journal.unsent_refused.add(conversation_id)
                self._files_on_disk.pop(conversation_id, None)
                self._changed.add(conversation_id)
                self._timer.start(_RETRY_MS)
            self._write_soon()

        text = whole_characters(unsent.text)
        self._journal.save_unsent(conversation_id, text, None if written else files, done)
