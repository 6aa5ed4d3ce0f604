"""Measures this machine while nobody wants anything of the engine, where that was never done well."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, Slot

from app.bridge.engine_client import EngineClient
from app.bridge.idle_watch import IdleWatch
from app.bridge.machine import Machine
from app.bridge.model_in_engine import ModelInEngine
from app.bridge.replies import Replies
from app.chat.engine_state import EnginePhase

_LOOK_MS = 5_000
_QUIET_S = 20.0
# Other programs that kept the machine busy may be done after this time; each time that they are not doubles it.
_BUSY_PAUSE_S = 300.0


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
        super().__init__(client, _LOOK_MS, parent, clock)
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
