"""Keeps Python's garbage collector in the window's thread."""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer, Slot

from engine.freed_memory import give_back_memory

_INTERVAL_MS = 500
_FULL_EVERY = 120  # rounds; a full collection takes tens of milliseconds


class GarbageInWindowThread(QObject):
    """Collects garbage from a timer, and never from the threads of the engine and the disk.

    Python collects in whichever thread happens to allocate. Garbage can hold widgets and timers, and Qt crashes
    when those are destroyed outside their own thread: a timer stays registered with the event loop, which then
    calls an object that is gone.
    """

    _users = 0  # workspaces that are open; the collector is as before when the last one closes

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rounds = 0
        self._timer = QTimer(self, interval=_INTERVAL_MS)
        self._timer.timeout.connect(self._collect)
        self._timer.start()
        GarbageInWindowThread._users += 1
        gc.disable()

    def close(self) -> None:
        """Leave the collector to itself again, once nothing runs in other threads any more."""
        self._timer.stop()
        GarbageInWindowThread._users -= 1
        if GarbageInWindowThread._users == 0:
            gc.enable()

    @Slot()
    def _collect(self) -> None:
        self._rounds += 1
        if self._rounds % _FULL_EVERY == 0:
            gc.collect()
            give_back_memory()  # replies of all lengths leave gaps; it takes milliseconds
        elif gc.get_count()[0] > gc.get_threshold()[0]:
            gc.collect(1)  # all that is young: a millisecond or so
