"""Watches of the engine: one that hangs is started again; one that rests measures this machine, or is unloaded."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Slot

from app.bridge.engine_client import EngineClient
from app.bridge.machine import Machine
from app.bridge.model_in_engine import ModelInEngine
from app.bridge.replies import Replies
from app.chat.engine_state import EnginePhase
from app.settings.settings import Settings
from app.words import mark, tr

# Silence is counted in ticks and not by a clock: while the computer sleeps, or this process stands still, none come.
TICK_MS = 5_000
PATIENCE_TICKS = 12
# Importing its libraries, the engine waits for a child that tries a GPU, for three minutes at most.
START_TICKS = 48
_SENTENCE = mark("The engine neither computed nor answered, so it was ended and started again.")

_MEASURING_LOOK_MS = 5_000
_QUIET_S = 20.0
# Other programs that kept the machine busy may be done after this time; each time that they are not doubles it.
_BUSY_PAUSE_S = 300.0

_UNLOAD_LOOK_MS = 15_000


class EngineWatch(QObject):
    """Ends an engine that owes an answer and says nothing: layers and files that it goes on with it tells of."""

    def __init__(self, client: EngineClient, model: ModelInEngine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self._model = model
        self._silent_ticks = 0
        self._restart = False
        self.timer = QTimer(self, interval=TICK_MS)
        self.timer.timeout.connect(self.tick)
        self.timer.start()
        client.event_received.connect(self._hear)
        client.stopped.connect(self._start_again)

    @Slot()
    def tick(self) -> None:
        """Look whether the engine lives."""
        if self._client.process_id is None or not self._client.owes_answer:
            self._silent_ticks = 0
            return
        self._client.ping()
        self._silent_ticks += 1
        if self._silent_ticks > (PATIENCE_TICKS if self._client.ready else START_TICKS):
            self._silent_ticks = 0
            self._restart = self._client.ready  # one that cannot even start would not the next time either
            self._client.kill(tr(_SENTENCE))

    @Slot()
    def _hear(self) -> None:
        self._silent_ticks = 0

    @Slot()
    def _start_again(self) -> None:
        self._silent_ticks = 0
        if self._restart:
            self._restart = False
            self._model.ensure_engine()


class IdleWatch(QObject):
    """Measures how long the engine has been quiet; a class that derives from it connects its work to the timer.

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


class IdleMeasuring(IdleWatch):
    """Looks every few seconds whether the engine has been quiet for a while, until the machine's speeds are known.

    Measurements that were taken while other programs kept the machine busy, those of a model's modes too, are repeated
    after a pause that grows.

    The first question stops what the welcome page measures, and so it does here; it is taken up again later. What
    the user stopped, and what failed, is not begun again in this session.
    """

    def __init__(
        self,
        client: EngineClient,
        model: ModelInEngine,
        replies: Replies,
        machine: Machine,
        parent: QObject | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(client, _MEASURING_LOOK_MS, parent, clock)
        self._model = model
        self._replies = replies
        self._machine = machine
        self._looked = self._runs = self._gave_way = False
        self._pause_s = _QUIET_S
        replies.asked.connect(self.give_way)
        machine.changed.connect(self._machine_changed)
        self.timer.timeout.connect(self.look)

    @Slot()
    def look(self) -> None:
        """Go on if the engine has been quiet for long enough: ask what the machine is, then measure it."""
        machine = self._machine
        if machine.declined or (self._speeds_known and machine.doubtful is None):
            self.timer.stop()
        elif self._replies.busy or self._model.state.phase is not EnginePhase.READY:
            self.note_use()
        elif self.quiet_s < self._pause_s:
            return
        elif machine.report is None and not self._looked:
            self._looked = True
            machine.look()
        elif machine.report is None:  # it was told why; once is enough
            self.timer.stop()
        else:
            self._gave_way = False
            if not self._speeds_known:
                machine.measure_speeds()
            elif machine.doubtful is not None:
                machine.measure_modes(machine.doubtful)
            self._runs = machine.measuring.running

    @Slot()
    def give_way(self) -> None:
        """Stop measuring because a reply is wanted."""
        if self._runs:
            self._gave_way = True
            self._machine.give_way()

    @Slot()
    def _machine_changed(self) -> None:
        machine = self._machine
        if machine.measuring.running:
            return
        ended, self._runs = self._runs and not self._gave_way, False
        speeds = None if machine.report is None else machine.report.speeds
        busy = speeds is not None and speeds.busy
        if busy or machine.doubtful is not None:
            if ended:
                self._pause_s = max(2 * self._pause_s, _BUSY_PAUSE_S)
            self.timer.start()
        elif ended:
            self.timer.stop()

    @property
    def _speeds_known(self) -> bool:
        report = self._machine.report
        return report is not None and report.speeds is not None and not report.speeds.busy


class IdleUnload(IdleWatch):
    """Looks every few seconds whether `Settings.idle_unload_minutes` have passed without an event or a reply."""

    def __init__(
        self,
        settings: Settings,
        client: EngineClient,
        model: ModelInEngine,
        replies: Replies,
        parent: QObject | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(client, _UNLOAD_LOOK_MS, parent, clock)
        self._settings = settings
        self._model = model
        self._replies = replies
        self.timer.timeout.connect(self.look)

    @Slot()
    def look(self) -> None:
        """Let the model rest if its time has come."""
        minutes = self._settings.idle_unload_minutes
        if self._replies.busy:
            self.note_use()
        elif minutes > 0 and self.quiet_s >= minutes * 60 and self._model.state.phase is EnginePhase.READY:
            self._model.rest()
            self.note_use()
