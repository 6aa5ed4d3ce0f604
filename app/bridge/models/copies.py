"""Smaller copies of installed models: written in a process of their own, one after the other, and told of."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Event, Thread

from PySide6.QtCore import QObject, Signal

from app.bridge.worker import Worker
from app.chat.model_entries import COPY_TYPE, CopyStatus, CopyStep, InstalledEntry
from app.words import tr
from engine.child_process import belong_to_window
from engine.errors import Cancelled, TenonError

_NICE = 10
_END_S, _LOOK_S = 5.0, 0.2
_PROGRESS_STEP = 0.005  # of a step, between two tellings


class Copies(QObject):
    """Copies that are made or wait for their turn. The signals come in the window's thread."""

    changed = Signal()
    made = Signal(str, str)  # name of the original, and of the copy
    refused = Signal(str)  # why a copy could not be made

    _told = Signal(str, object)  # name of the original, CopyStatus

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.entries: dict[str, CopyStatus] = {}  # by the original's name
        self._stops: dict[str, Event] = {}
        self._worker = Worker("models-copies", self)
        self._told.connect(self._take)

    def make(self, entry: InstalledEntry) -> None:
        """Make a copy of a model; `made` or `refused` follows. One that was interrupted goes on."""
        name = entry.name
        if name in self.entries:
            return
        self.entries[name], self._stops[name] = CopyStatus(), Event()
        self.changed.emit()
        self._worker.run(
            lambda: self._make(name, entry.ref, self._stops[name]),
            lambda copy: self._end(name, lambda: self.made.emit(name, copy)),
            lambda error: self._end(name, lambda: self._refuse(error)),
        )

    def cancel(self, name: str) -> None:
        """Give a copy up, and remove what there is of it."""
        if name in self._stops:
            self._stops[name].set()

    def close(self) -> None:
        """End the process; what it has written stays for another time. May be called twice."""
        self._worker.close(0.0)

    def _refuse(self, error: TenonError) -> None:
        if not isinstance(error, Cancelled):
            self.refused.emit(error.message)

    def _end(self, name: str, tell: Callable[[], None]) -> None:
        self.entries.pop(name, None)
        self._stops.pop(name, None)
        self.changed.emit()
        tell()

    def _take(self, name: str, status: CopyStatus) -> None:
        if name in self.entries:
            self.entries[name] = status
            self.changed.emit()

    # --- in the worker's thread ----------------------------------------------------------------------------

    def _make(self, name: str, ref: str, stop: Event) -> str:
        if stop.is_set():
            raise Cancelled("It was stopped.")
        context = get_context("spawn")
        ours, theirs = context.Pipe(duplex=True)
        process = context.Process(target=_run, args=(theirs, ref), name="tenon-copy")
        process.start()
        theirs.close()
        told, asked = CopyStatus(), False
        try:
            while True:
                if stop.is_set() and not asked:
                    asked = True
                    with suppress(OSError):
                        ours.send("stop")
                if not ours.poll(_LOOK_S):
                    continue
                said = ours.recv()
                if isinstance(said, TenonError):
                    raise said
                if isinstance(said, str):
                    return said
                step, share = said
                if step != told.step or share - told.share >= _PROGRESS_STEP or share >= 1.0:
                    told = replace(told, step=step, share=share)
                    self._told.emit(name, told)
        except EOFError as error:
            raise TenonError(
                tr("Making a smaller copy of {name} ended unexpectedly: free some memory, and try again.", name=name)
            ) from error
        finally:
            process.join(_END_S)
            if process.is_alive():
                process.kill()
            ours.close()


def _run(connection: Connection, ref: str) -> None:
    """Make a copy, and tell of it through a pipe; this is the process's own function."""
    belong_to_window()
    with suppress(OSError, AttributeError):
        os.nice(_NICE)
    from engine.quantizing.convert import CopyRequest, convert, discard

    request = CopyRequest(ref, COPY_TYPE)

    stop = Event()
    Thread(target=_listen, args=(connection, stop), name="tenon-copy-stop", daemon=True).start()

    def tell(step: CopyStep, done: int, total: int) -> None:
        connection.send((step, done / max(1, total)))

    def check() -> None:
        if stop.is_set():
            raise Cancelled("It was stopped.")

    try:
        connection.send(convert(request, tell, check).name)
    except Cancelled as error:
        with suppress(TenonError):
            discard(request)
        connection.send(error)
    except TenonError as error:
        connection.send(error)


def _listen(connection: Connection, stop: Event) -> None:
    with suppress(EOFError, OSError):
        connection.recv()
        stop.set()
