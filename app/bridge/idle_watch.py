"""Looks now and then whether the engine has rested long enough for something that waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Slot

from app.bridge.engine_client import EngineClient


class IdleWatch(QObject):
    """Knows for how long the engine has been quiet; whoever derives from it connects what is to be done to the timer.

    Args:
        client: Each of its events counts as use.
    """

    def __init__(
        self,
        client: EngineClient,
        look_ms: int,
        parent: QObject | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self._clock = clock
        self._used = clock()
        client.event_received.connect(self.note_use)
        self.timer = QTimer(self, interval=look_ms)
        self.timer.start()

    @property
    def quiet_s(self) -> float:
        """Seconds since the engine was used last."""
        return self._clock() - self._used

    @Slot()
    def note_use(self) -> None:
        """Note that the engine is in use now."""
        self._used = self._clock()
