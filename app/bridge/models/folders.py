"""The folders that models lie in: Tenon's own, which can be moved, and those of others, which are only read."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.bridge.models.installed import shares
from app.bridge.worker import Worker
from app.chat.model_entries import FolderEntry
from app.words import tr
from engine.errors import Cancelled, FileRefused, TenonError
from engine.files import LOGGER
from engine.hub.endpoints import mend_endpoints
from engine.hub.model_folders import (
    add_folder,
    forget_folder,
    mend_folders,
    models_folder,
    other_folders,
    usual_models_folder,
)
from engine.hub.model_move import check_move, finish_move, give_up_move, move_models, unfinished_move


class _Listener(logging.Handler):
    """Hands what a log says to a function, in whichever thread it is said."""

    def __init__(self, hear: Callable[[str], None]) -> None:
        super().__init__()
        self._hear = hear

    def emit(self, record: logging.LogRecord) -> None:
        self._hear(record.getMessage())


class Folders(QObject):
    """Everything here happens in a thread; the signals come in the window's."""

    changed = Signal()
    others_changed = Signal()  # other folders are read from now on
    checked = Signal(str, object)  # where to, and how many bytes would be moved there
    moved = Signal()
    refused = Signal(str)
    said = Signal(str)  # a sentence on a list or a note that was damaged

    _progressed = Signal(float)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.entries: tuple[FolderEntry, ...] = ()  # Tenon's own first
        self.moving: float | None = None  # share of a move that is done, 0 to 1; None while none runs
        self.unfinished = ""  # target of a move that was interrupted; empty for none
        self._worker = Worker("models-folders", self)
        self._stop = threading.Event()
        self._progressed.connect(self._show)
        self._listener = _Listener(self.said.emit)

    def start(self) -> None:
        """Mend the lists, and finish what a move has left to do since the last start, then look."""
        LOGGER.addHandler(self._listener)
        self._worker.run(_begun, lambda _: self.look(), self._refuse)

    def look(self) -> None:
        """See which folders there are; `changed` follows."""
        self._worker.run(_looked, self._take, self._refuse)

    def add(self, path: str) -> None:
        """Read another folder from now on; its files stay as they are."""
        self._worker.run(lambda: _settle(lambda: add_folder(Path(path))), self._read_others, self._refuse)

    def forget(self, path: str) -> None:
        """Read a folder no longer; its files stay as they are."""
        self._worker.run(lambda: _settle(lambda: forget_folder(path)), self._read_others, self._refuse)

    def check(self, target: str) -> None:
        """Find out whether Tenon's own models can go to a folder; `checked` or `refused` follows."""
        self._worker.run(lambda: check_move(Path(target)), lambda size: self.checked.emit(target, size), self._refuse)

    def move(self, target: str) -> None:
        """Move them; nothing may be reading them. `moved` or `refused` follows."""
        self._stop.clear()
        self._show(0.0)

        def ended(_: object) -> None:
            self.moving = None
            self.look()
            self.moved.emit()

        def failed(error: TenonError) -> None:
            self.moving = None
            self.look()
            if not isinstance(error, Cancelled):
                self.refused.emit(error.message)

        progress = shares(self._stop, self._progressed.emit)
        self._worker.run(lambda: move_models(Path(target), progress), ended, failed)

    def stop_moving(self) -> None:
        """Stop a move; the models stay where they are, and it can go on later."""
        self._stop.set()

    def give_up(self) -> None:
        """Delete what a move that was interrupted has copied."""
        self._worker.run(give_up_move, lambda _: self.look(), self._refuse)

    def close(self) -> None:
        """Stop. May be called twice."""
        self._stop.set()
        self._worker.close(1.0)
        LOGGER.removeHandler(self._listener)

    def _show(self, share: float) -> None:
        self.moving = share
        self.changed.emit()

    def _take(self, found: tuple[tuple[FolderEntry, ...], str]) -> None:
        self.entries, self.unfinished = found
        self.changed.emit()

    def _read_others(self, _: object) -> None:
        self.look()
        self.others_changed.emit()

    def _refuse(self, error: TenonError) -> None:
        self.refused.emit(error.message)


def _begun() -> None:
    mend_folders()
    mend_endpoints()
    finish_move()


def _looked() -> tuple[tuple[FolderEntry, ...], str]:
    own = models_folder()
    entries = [FolderEntry(str(own), own=True, missing=own != usual_models_folder() and not own.is_dir())]
    for folder in other_folders():
        entries.append(FolderEntry(str(folder.path), folder.source, missing=not folder.path.is_dir()))
    move = unfinished_move()
    return tuple(entries), "" if move is None else str(move.target)


def _settle(change: Callable[[], None]) -> None:
    """Write what was settled; a disk that takes nothing is told in a sentence."""
    try:
        change()
    except OSError as error:
        raise FileRefused(tr("The list of folders cannot be written ({reason}).", reason=error.strerror)) from error
