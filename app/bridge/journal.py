"""Getting conversations and unsent messages onto the disk, and trying again when the disk refuses."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from time import monotonic

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bridge.worker import Worker
from app.chat.attachment import Unsent
from app.chat.conversation import Message, Preset
from app.chat.exchange.chat_files import ConversationRecord
from app.chat.library import Deleted, Library
from app.chat.troubles import report_of
from app.storage.conversation_store import ConversationStore
from engine.errors import StorageError, TenonError
from engine.json_text import whole_characters
from engine.messages import Attachment

Work = Callable[[], object]
Then = Callable[[TenonError | None], None]
"""Called once something is on the disk, or with the error that kept it from there."""

_RETRY_MS = 5000
# What is committed outlives this process. It waits in the system's memory, which a power cut empties, for so long at
# most on a fast disk.
_SYNC_MS = 500
# A memory card takes 100 ms for a sync. The next one waits so long that syncs take a twentieth of the time at most.
_SYNC_SHARE, _LONGEST_SYNC_MS = 20, 5_000
# A reply waits so long for its prompt to be safe from a power cut, and then begins. Its text never outlives the prompt:
# one log has both, the prompt first.
_SYNC_PATIENCE_MS = 50
_CHECKPOINT_MS = 30_000
_END_S = 60.0  # for a disk that no longer answers: the window closes in any case

# A change is written at once, but a text of many pages, which is written as a whole, not at each key.
_CHARACTERS_PER_MS = 500
_LONGEST_MS = 200
_UNSENT_RETRY_MS = 5000


class Journal(QObject):
    """Writes what the library holds, in the background, in the order of the calls.

    What a full disk refuses is written with the next of its kind, or after `_RETRY_MS`: a conversation with its next
    save; everything else in the order of the calls, after all saves.

    Args:
        store: Written by the writer's thread alone from here on; another one syncs it and brings its log in.
        library: Source of the content to write, as it is at the time of the call.
        writer: Runs the writes; closed together with this object.
    """

    trouble = Signal(object)  # ErrorReport, once until all is saved
    trouble_over = Signal(str)  # its sentence, once all is saved
    cleaned = Signal()  # nothing of what was erased is left in the database

    def __init__(
        self,
        store: ConversationStore,
        library: Library,
        writer: Worker,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._library = library
        self._writer = writer
        self._unsaved: dict[int, set[int]] = {}  # message ids by conversation id
        # Chats whose unsent text the disk has refused; None is the chat to come
        self.unsent_refused: set[int | None] = set()
        self._unsynced = False
        # The writer thread's own: conversations and messages that were refused, why, and what waits for them.
        self._behind: set[int] = set()
        self._reason = StorageError("")
        self._refused: deque[Work] = deque()
        self.problem = ""  # reason why something is in memory alone; empty where all is saved
        self._erased = True  # by the last run, which a kill may have ended
        self._retry = QTimer(self, singleShot=True, interval=_RETRY_MS)
        self._retry.timeout.connect(self._save_unsaved)
        # In a thread of its own: a slow disk takes hundreds of milliseconds, in which a reply goes on.
        self._syncer = Worker("disk", self)
        self._sync = QTimer(self, singleShot=True, interval=_SYNC_MS)
        self._sync.timeout.connect(self._sync_now)
        self._checkpoint = QTimer(self, singleShot=True, interval=_CHECKPOINT_MS)
        self._checkpoint.timeout.connect(lambda: self._syncer.run(self._store.checkpoint))
        self._clean()

    @property
    def slow_disk(self) -> bool:
        """True if the last sync has taken long, as it does on a memory card."""
        return self._sync.interval() > _SYNC_MS

    def unsaved(self) -> list[ConversationRecord]:
        """Conversations that the disk has refused, as they are in memory."""
        chats = map(self._library.conversation, self._unsaved)
        return [ConversationRecord(chat, tuple(self._library.all_messages(chat.id))) for chat in chats if chat]

    def save(
        self, conversation_id: int, message_ids: Iterable[int] = (), then: Callable[[], None] | None = None
    ) -> None:
        """Write a conversation and some of its messages in one transaction.

        Args:
            conversation_id: Nothing is written for one that is gone.
            then: Called when they are written and synced, `_SYNC_PATIENCE_MS` after the writing if the sync takes
                longer, or when one of both failed: a full disk ends no conversation.
        """
        ids = self._unsaved.pop(conversation_id, set()) | set(message_ids)
        conversation = self._library.conversation(conversation_id, in_trash=True)
        found = (self._library.message(conversation_id, message_id) for message_id in sorted(ids))
        messages = [message for message in found if message is not None]

        def work() -> None:
            try:
                if conversation is not None:
                    self._store.save(conversation, messages)
            except StorageError as error:
                self._behind |= {conversation_id, *ids}
                self._reason = error
                raise
            self._behind -= {conversation_id, *ids}

        def done(error: TenonError | None) -> None:
            if error is not None:
                self._keep_in_mind(conversation_id, ids)
            self._settle(error)
            if then is not None:
                waiting = [then]

                def once() -> None:  # by the sync or by the timer, whichever ends first
                    if waiting:
                        waiting.pop()()

                self._sync_now(once)
                QTimer.singleShot(_SYNC_PATIENCE_MS, self, once)

        self._write(work, done)

    def add_text(self, reply: Message, place: int, then: Then) -> None:
        """Write what a reply has got after its first ``place`` characters; after a failure only `save` will do."""

        def done(error: TenonError | None) -> None:
            if error is not None:  # a little text that has found room makes up for nothing that was refused
                self._keep_in_mind(reply.conversation_id, {reply.id})
                self._settle(error)
            then(error)

        self._write(lambda: self._store.add_text(reply.id, place, reply.content[place:]), done)

    def save_trace(self, message_id: int, trace: bytes) -> None:
        """Write how a reply was made, which is worth no word where the disk refuses it."""
        self._write(lambda: self._store.save_trace(message_id, trace), lambda error: None)

    def delete_messages(self, entry: Deleted) -> None:
        """Mark messages as deleted, and write which path is shown now."""
        self.save(entry.conversation_id)
        self._change(lambda: self._store.set_messages_deleted(entry.ids, entry.deleted_at))

    def undelete_messages(self, entry: Deleted) -> None:
        """Take that mark away, and write which path is shown now."""
        self._change(lambda: self._store.set_messages_deleted(entry.ids, None))
        self.save(entry.conversation_id)

    def erase_messages(self, message_ids: tuple[int, ...]) -> None:
        """Erase messages that the library has dropped."""
        self._erased = True
        self._change(lambda: self._store.erase_messages(message_ids))

    def save_unsent(
        self, conversation_id: int | None, text: str, attachments: Sequence[Attachment] | None, then: Then
    ) -> None:
        """Write what is typed in a conversation; None for the attachments leaves those that are there."""

        def done(error: TenonError | None) -> None:
            then(error)
            if error is not None:
                self._retry.start()
            self._settle(error)

        def work() -> None:
            if conversation_id in self._behind:  # nothing is kept for a chat that is not there
                raise self._reason
            self._store.save_unsent(conversation_id, text, attachments)

        self._write(work, done)

    def save_preset(self, preset: Preset) -> None:
        """Write a preset."""
        self._change(lambda: self._store.save_preset(preset))

    def delete_preset(self, name: str) -> None:
        """Erase a preset."""
        self._change(lambda: self._store.delete_preset(name))

    def set_deleted(self, conversation_id: int, deleted: bool) -> None:
        """Mark a conversation as deleted, or take that mark away."""
        self._change(lambda: self._store.set_deleted(conversation_id, deleted))

    def erase(self, conversation_id: int) -> None:
        """Erase a hidden conversation."""
        self._erased = True
        self._change(lambda: self._store.erase(conversation_id))

    def close(self) -> None:
        """Write what is left, close the store and end the writer's thread."""
        for timer in (self._retry, self._sync, self._checkpoint):
            timer.stop()
        self._syncer.finish(_END_S)
        self._save_unsaved()
        self._writer.run(self._store.close)
        self._writer.finish(_END_S)

    def _change(self, work: Work | None = None) -> None:
        """Write what may be written again, after what was refused before; None for that alone."""

        def in_turn() -> None:
            if work is not None:
                self._refused.append(work)
            while self._refused and not self._behind:
                self._refused[0]()
                self._refused.popleft()

        def done(error: TenonError | None) -> None:
            if error is not None:
                self._retry.start()
            elif self._erased and not self._refused:
                self._clean()
            self._settle(error)

        self._write(in_turn, done)

    def _write(self, work: Work, then: Then) -> None:
        self._writer.run(work, lambda done: then(None), then)
        for timer in (self._sync, self._checkpoint):
            if not timer.isActive():
                timer.start()

    def _sync_now(self, then: Callable[[], None] = lambda: None) -> None:
        def sync() -> float:
            begun = monotonic()
            self._store.sync()
            return monotonic() - begun

        def synced(seconds: float) -> None:
            self._sync.setInterval(min(max(_SYNC_MS, round(1000 * _SYNC_SHARE * seconds)), _LONGEST_SYNC_MS))
            done(None)

        def done(error: TenonError | None) -> None:
            if error is not None or self._unsynced:
                self._unsynced = error is not None
                self._settle(error)
            if error is not None:
                self._retry.start()
            then()

        self._syncer.run(sync, synced, done)

    def _clean(self, unfinished: bool = True) -> None:
        """Leave nothing of what was erased in the file and its log."""
        self._erased = False

        def later(error: TenonError) -> None:
            self._erased = True
            self._retry.start()

        if unfinished:
            self._writer.run(self._store.prepare_search, self._clean, later)
        else:
            self._writer.run(self._store.empty_log, lambda _: self.cleaned.emit(), later)

    def _keep_in_mind(self, conversation_id: int, message_ids: set[int]) -> None:
        self._unsaved.setdefault(conversation_id, set()).update(message_ids)
        self._retry.start()

    @Slot()
    def _save_unsaved(self) -> None:
        for conversation_id in list(self._unsaved):
            self.save(conversation_id)
        self._change()

    def _settle(self, error: TenonError | None) -> None:
        sentence = error.message if error is not None else ""
        if error is not None and sentence != self.problem:
            self.trouble.emit(report_of(error))
        if error is None and self.problem:
            if self._unsaved or self._refused or self.unsent_refused or self._unsynced:
                return
            self.trouble_over.emit(self.problem)
        self.problem = sentence


class UnsentMessages(QObject):
    """Remembers each change and writes it, as fast as the disk takes it. None is the chat to come.

    Args:
        read: Reads what the disk holds of a chat; called once for each that is shown.
    """

    problem = Signal(str)  # one sentence: something kept cannot be read
    writing = Signal()  # what is not kept yet is kept now, or lost

    def __init__(self, journal: Journal, read: Callable[[int | None], Unsent], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._journal = journal
        self._read = read
        self._known: dict[int | None, Unsent] = {}
        self._changed: set[int | None] = set()
        self._files_on_disk: dict[int | None, tuple[Attachment, ...]] = {}  # or on their way
        self._writing = 0
        self.typed = False  # True if anything was typed or attached in this session
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
                self._timer.start(_UNSENT_RETRY_MS)
            self._write_soon()

        text = whole_characters(unsent.text)
        self._journal.save_unsent(conversation_id, text, None if written else files, done)
