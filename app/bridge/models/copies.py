"""Smaller copies of installed models: written in a process of their own, one after the other, and told of."""

from __future__ import annotations

import atexit
import os
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from threading import Event, Thread

from PySide6.QtCore import QObject, Signal

from app.bridge.worker import Worker
from app.chat.model_entries import COPY_TYPE, CopyStatus, CopyStep, InstalledEntry
from app.words import tr
from engine.child_process import belong_to_window, spawning
from engine.errors import Cancelled, TenonError

_NICE = 10
# Times for a process that is done to end, between two looks at whether to stop, and for one that is killed to end
_END_S, _LOOK_S, _CLOSE_S = 5.0, 0.2, 1.0
_PROGRESS_STEP = 0.005  # of a step, between two tellings


class Copies(QObject):
    """Copies that are made or wait for their turn. The signals come in the window's thread."""

    changed = Signal()
    made = Signal(str)  # name of the copy
    refused = Signal(str)  # why a copy could not be made

    _told = Signal(str, object)  # name of the original, CopyStatus

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.entries: dict[str, CopyStatus] = {}  # by the original's name
        self._stops: dict[str, Event] = {}
        self._process: SpawnProcess | None = None
        self._closed = False
        self._worker = Worker("models-copies", self)
        self._told.connect(self._take)

    def make(self, entry: InstalledEntry) -> None:
        """Make a copy of a model; `made` or `refused` follows. One that was interrupted goes on."""
        name = entry.name
        if name in self.entries:
            return
        self.entries[name] = CopyStatus()
        stop = self._stops[name] = Event()
        self.changed.emit()

        def made(copy: str) -> None:
            self._end(name)
            self.made.emit(copy)

        def failed(error: TenonError) -> None:
            if self._stops.get(name) is stop:  # else it was cancelled before its turn came
                self._end(name)
            if not isinstance(error, Cancelled):
                self.refused.emit(error.message)

        self._worker.run(lambda: self._make(name, entry.ref, stop), made, failed)

    def cancel(self, name: str) -> None:
        """Give a copy up, and remove what there is of it."""
        if name in self._stops:
            self._stops[name].set()
            if name != next(iter(self.entries)):  # its turn has not come
                self._end(name)

    def close(self) -> None:
        """End the process; what it has written stays for another time. May be called twice."""
        self._closed = True
        if (process := self._process) is not None and process.pid is not None:
            process.kill()
        self._worker.close(_CLOSE_S)

    def _end(self, name: str) -> None:
        del self.entries[name], self._stops[name]
        self.changed.emit()

    def _take(self, name: str, status: CopyStatus) -> None:
        if name in self.entries:
            self.entries[name] = status
            self.changed.emit()

    # --- in the worker's thread ----------------------------------------------------------------------------

    def _make(self, name: str, ref: str, stop: Event) -> str:
        if stop.is_set():
            raise Cancelled("It was stopped.")
        context = spawning()
        ours, theirs = context.Pipe(duplex=True)
        # No daemon of multiprocessing's, for it has processes of its own; ended with this one just the same.
        process = self._process = context.Process(target=_run, args=(theirs, ref), name="tenon-copy")
        process.start()
        atexit.register(process.kill)
        theirs.close()
        if self._closed:
            process.kill()
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
            process.kill()
            process.join()
            atexit.unregister(process.kill)
            self._process = None
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
