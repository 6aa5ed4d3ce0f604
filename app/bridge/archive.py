"""Conversations as files: export, import, the daily backup, and erasing everything."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import closing, suppress
from datetime import date
from pathlib import Path
from queue import SimpleQueue
from threading import Event
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bridge.worker import Result, Worker, outcome
from app.chat import clock
from app.chat.conversation import Conversation
from app.chat.exchange.chat_files import ConversationRecord, to_json, to_markdown
from app.chat.library import Deleted
from app.settings.settings import Settings
from app.storage import outside_chats
from app.storage.backup import Backup, Doomed, copies_with, erase_in_copies
from app.storage.conversation_store import ConversationStore
from app.storage.files import write_export
from app.storage.pictures import export_pictures, with_content
from app.words import tr
from engine.errors import Cancelled, ImportInvalid, StorageError, TenonError
from engine.preparer import Died, Preparer, TookTooLong, TookTooMuch

# Not at once: the first message after a start must not wait for a copy of everything.
_FIRST_BACKUP_MS = 5_000
_BACKUP_MS = 3_600_000
#: A week of large backups on a slow disk takes longer; those that are left stay as they were.
_CLOSING_S = 60.0
READER = Preparer("tenon-import", 180.0, 4 << 30, clock_s=180.0)
_WORK = "app.storage.outside_chats:read"
_END_S = 2.0


class Archive(QObject):
    """Reads and writes whole conversations, after what is to be saved already.

    The writer's thread has the database alone: files of others, which may never end, are for other threads.

    Args:
        store: Used in the writer's thread alone.
        files: Writes to places that the user chooses.
        kept: True if conversations outlive the program; else nothing is imported or backed up.
        busy: True if a reply is written, which a backup would keep from the disk.
        unsaved: Conversations that the disk has refused, as they are in memory.
    """

    import_begun = Signal(str)  # the file's name
    imported = Signal(object)  # list of Conversation: they are on the disk
    import_finished = Signal(int, str)  # how many, and a sentence
    export_finished = Signal(str, str)  # the file, and why there is none; empty when there is
    erased = Signal()  # nothing is left on the disk
    copies_found = Signal(list, bool)  # days of the backups that have chats, and whether a damaged database is kept
    copies_erased = Signal(int)  # in so many backups
    problem = Signal(str)  # a sentence

    def __init__(
        self,
        store: ConversationStore,
        writer: Worker,
        files: Worker,
        kept: bool,
        settings: Settings,
        busy: Callable[[], bool],
        unsaved: Callable[[], list[ConversationRecord]],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._writer = writer
        self._files = files
        self._importer = Worker("tenon-import", self)
        self._given_up = Event()  # what is imported now, and what waits after it
        self._kept = kept
        self._settings = settings
        self._busy = busy
        self._unsaved = unsaved
        self._tried_on: date | None = None
        # In a thread of its own: what is written must not wait until a week of backups is written again.
        self._copies = Worker("tenon-copies", self)
        self.backup_timer = QTimer(self, interval=_FIRST_BACKUP_MS)
        self.backup_timer.timeout.connect(self.back_up)

    def export(self, path: Path, conversation_id: int | None) -> None:
        """Write a conversation, or (None) all that are not deleted; `export_finished` follows.

        A path that ends in ``.md`` or ``.markdown`` gets Markdown, any other JSON, which can be imported again.
        """
        markdown = path.suffix.lower() in (".md", ".markdown")

        unsaved = {one.conversation.id: one for one in self._unsaved()}
        if conversation_id is not None:
            unsaved = {known: one for known, one in unsaved.items() if known == conversation_id}
        found: SimpleQueue[tuple[Any, TenonError | None]] = SimpleQueue()
        self._writer.run(lambda: found.put(outcome(lambda: self._store.records(conversation_id))))

        def work() -> None:
            stored, error = found.get()
            if error is not None:
                raise error
            records = list(({one.conversation.id: one for one in stored} | unsaved).values())
            if markdown:
                pictures = path.with_name(f"{path.stem}-pictures")
                shown = (
                    one for record in records for message in record.settled().shown() for one in message.attachments
                )
                export_pictures(pictures, shown)
                write_export(path, to_markdown(records, pictures.name))
            else:
                write_export(path, to_json(record.with_attachments(with_content) for record in records))

        self._files.run(
            work,
            lambda _: self.export_finished.emit(str(path), ""),
            lambda error: self.export_finished.emit(str(path), error.message),
        )

    def import_file(self, path: Path) -> None:
        """Take in the conversations of a file, all of them or none; `import_begun` and `import_finished` follow.

        Of a backup those that are not here are taken.
        """
        if not self._kept:
            self.import_finished.emit(
                0, tr("Nothing of this session is saved, so nothing can be imported: make room for it first.")
            )
            return

        given_up = self._given_up
        self.import_begun.emit(path.name)

        def write(records: list[ConversationRecord], of_backup: bool) -> list[Conversation]:
            added = self._store.add_missing(records) if of_backup else self._store.add(records)
            with suppress(StorageError):  # they are on the disk, in the log
                self._store.checkpoint()
            return added

        def done(added: list[Conversation]) -> None:
            if not added:
                self.import_finished.emit(0, tr("Every chat of {name} is here already.", name=path.name))
                return
            self.imported.emit(added)
            self.import_finished.emit(len(added), tr("%n chat(s) were imported.", len(added)))

        def failed(error: TenonError) -> None:
            if isinstance(error, Cancelled):
                sentence = tr("{name} was not imported.", name=path.name)
            else:
                sentence = tr("{name} was not imported. {reason}", name=path.name, reason=error.message)
            self.import_finished.emit(0, sentence)

        self._importer.run(
            lambda: _read(path, given_up.is_set),
            lambda found: self._writer.run(lambda: write(*found), done, failed),
            failed,
        )

    def cancel_import(self) -> None:
        """Give up what is being read, and what waits after it."""
        self._given_up.set()
        self._given_up = Event()

    def erase_everything(self) -> None:
        """Erase all conversations, presets and backups from the disk; `erased` or `problem` follows."""
        self._writer.run(self._store.erase_everything, lambda _: self.erased.emit(), self._tell)

    def find_copies(self, entries: Sequence[Deleted]) -> None:
        """Look for the backups that have something of the trash; `copies_found` follows."""

        def tell(found: tuple[list[Backup], bool]) -> None:
            self.copies_found.emit([backup.day for backup in found[0]], found[1])

        self._with_copies(entries, copies_with, tell)

    def erase_in_copies(self, entries: Sequence[Deleted]) -> None:
        """Erase something of the trash in the backups, too; `copies_erased` or `problem` follows."""
        self._with_copies(entries, erase_in_copies, self.copies_erased.emit)
        self.forget_pictures()

    @Slot()
    def forget_pictures(self) -> None:
        """Delete the pictures that were in nothing but what is erased."""
        self._copies.run(self._store.forget_pictures)

    def _with_copies(
        self,
        entries: Sequence[Deleted],
        work: Callable[[Path, Doomed], Result],
        then: Callable[[Result], None],
    ) -> None:
        """Do something with the copies when all that was to be written before has been."""
        written: Future[Doomed] = Future()

        def doomed(table: str, whole: bool) -> tuple[frozenset[tuple[int, float]], frozenset[float]]:
            rows = frozenset(row for entry in entries if entry.whole is whole for row in entry.rows)
            return rows, frozenset(moment for _, moment in self._store.begun(table) - rows) if rows else frozenset()

        def note() -> None:
            try:
                tables = {"conversations": True, "messages": False}
                written.set_result({table: doomed(table, whole) for table, whole in tables.items()})
            except StorageError as error:
                written.set_exception(error)

        def begin() -> Result:
            return work(self._store.folder, written.result())

        self._writer.run(note)
        self._copies.run(begin, then, self._tell)

    def close(self) -> None:
        """Give up what is being read; what is being erased in the backups is done. May be called twice."""
        self.backup_timer.stop()
        self._given_up.set()
        self._importer.close(_END_S)
        self._copies.finish(_CLOSING_S)

    @Slot()
    def back_up(self) -> None:
        """Make the day's backup unless there is one; tried once a day."""
        if self._busy():
            self.backup_timer.setInterval(_FIRST_BACKUP_MS)
            return
        self.backup_timer.setInterval(_BACKUP_MS)
        today = clock.today()
        if self._kept and self._settings.daily_backup and self._tried_on != today:
            self._tried_on = today
            self._writer.run(lambda: self._store.back_up(today), failed=self._tell)

    def _tell(self, error: TenonError) -> None:
        self.problem.emit(error.message)


def _read(path: Path, cancelled: Callable[[], bool]) -> tuple[list[ConversationRecord], bool]:
    """Chats of a file from outside, and True if they are of a backup."""
    try:
        with closing(READER.answers(_WORK, os.fsencode(path), cancelled)) as found:
            return outside_chats.taken(found)
    except TookTooLong as error:
        seconds = round(READER.clock_s)
        raise ImportInvalid(
            tr("It took longer than {seconds} s to read: export fewer chats.", seconds=seconds)
        ) from error
    except TookTooMuch as error:
        most = READER.memory_bytes >> 30
        raise ImportInvalid(
            tr("It takes more than {most} GiB of memory to read: export fewer chats.", most=most)
        ) from error
    except (Died, RuntimeError) as error:
        raise ImportInvalid(tr("It is damaged, so that reading it failed.")) from error
