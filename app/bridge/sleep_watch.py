"""Notices that the computer has slept, and whether the engine woke up with it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

import psutil
from PySide6.QtCore import QObject, QTimer, Slot

from app.bridge.engine_client import EngineClient
from app.bridge.replies import Replies
from app.words import mark, tr

_log = logging.getLogger(__name__)

_TICK_MS = 5_000
# A window that stood still for longer than this between two ticks has slept, or its clock was set.
_JUMP_S = 30.0
# How long a reply may say nothing after that, with an engine that does not compute either.
_PATIENCE_MS = 60_000
_LEAST_CPU_S = 0.5
_SENTENCE = mark(
    "The engine did not go on after the computer slept, so it was ended. "
    "Your chats are safe; it starts again with your next message."
)


class SleepWatch(QObject):
    """After a sleep, a reply that was running goes on, or is ended with one sentence.

    Args:
        client: The engine.
        replies: Whether one is to come.
        clock: The wall clock in seconds; it goes on while the computer sleeps.
    """

    def __init__(
        self,
        client: EngineClient,
        replies: Replies,
        parent: QObject | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(parent)
        self._client = client
        self._replies = replies
        self._clock = clock
        self._ticked = clock()
        self._cpu_s = 0.0
        self.timer = QTimer(self)
        self.timer.setInterval(_TICK_MS)
        self.timer.timeout.connect(self.tick)
        self.timer.start()
        self.patience = QTimer(self)
        self.patience.setSingleShot(True)
        self.patience.setInterval(_PATIENCE_MS)
        self.patience.timeout.connect(self._lose_patience)
        client.event_received.connect(self.patience.stop)
        client.stopped.connect(self.patience.stop)

    @Slot()
    def tick(self) -> None:
        """Compare the clock with the last time."""
        now = self._clock()
        jump, self._ticked = now - self._ticked, now
        if abs(jump) < _JUMP_S:
            return
        _log.info("The clock went on by %.0f s: the computer has slept, or its clock was set", jump)
        if self._replies.busy:
            self._expect_news()

    def _expect_news(self) -> None:
        self._cpu_s = self._engine_cpu_s()
        self.patience.start()

    @Slot()
    def _lose_patience(self) -> None:
        if not self._replies.busy:
            return
        # A pass of a large model can take longer than this; a process that has woken up computes meanwhile.
        if self._engine_cpu_s() - self._cpu_s >= _LEAST_CPU_S:
            self._expect_news()
        else:
            self._client.kill(tr(_SENTENCE))

    def _engine_cpu_s(self) -> float:
        number = self._client.process_id
        try:
            times = psutil.Process(number).cpu_times() if number is not None else None
        except psutil.Error:
            return 0.0
        return times.user + times.system if times is not None else 0.0
