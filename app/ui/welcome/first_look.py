"""Looking at this computer for the first time, while the person reads, asks or waits for nothing."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from app.chat.engine_state import EnginePhase

if TYPE_CHECKING:
    from app.bridge.workspace import Workspace


class Look(Enum):
    """How far it is."""

    LOOKING = "looking"
    MEASURING = "measuring"
    DONE = "done"
    FAILED = "failed"


class FirstLook(QObject):
    """Asks what the machine has as soon as the engine is up, then measures its speeds once the guide is loaded.

    Measuring holds replies back, so it gives way: it is not begun while a reply runs, and `stop` ends it;
    `IdleMeasuring` takes it up again later. Predictions are asked for before and after, first with assumed speeds.

    Attributes:
        stage: How far it is.
    """

    changed = Signal()

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._machine = workspace.machine
        self._wanted = self._looked = self._measures = self._measured = False
        self.stage = Look.LOOKING
        self._machine.changed.connect(self._go_on)
        workspace.engine_changed.connect(self._go_on)

    def begin(self) -> None:
        """Go on as soon as the engine can."""
        self._wanted = True
        self._looked = self._measured = False
        self._go_on()

    def stop(self) -> None:
        """Give way to a reply."""
        self._wanted = False
        if self._measures:
            self._machine.give_way()

    @property
    def share(self) -> float:
        """How much has been measured, 0 to 1."""
        return self._machine.measuring.share

    @Slot()
    def _go_on(self) -> None:
        if not self._machine.measuring.running:
            self._measures = False
        if self._wanted:
            self._step()
        self._show()

    def _step(self) -> None:
        phase = self._workspace.engine_state().phase
        if phase in (EnginePhase.STARTING, EnginePhase.STOPPED):
            return
        if not self._looked:
            self._looked = True
            self._machine.look()
            self._workspace.model_store.look_around()
        report = self._machine.report
        if report is None:
            return
        if report.measured_at:
            if self._measured:
                self._measured = False
                self._workspace.model_store.look_around()  # the speeds are known now
        elif phase is EnginePhase.READY and not self._measured and self._free():
            self._measured = True
            self._machine.measure_speeds()
            self._measures = self._machine.measuring.running  # only now: news come before it runs

    def _free(self) -> bool:
        return self._workspace.active_conversation() is None and not self._machine.measuring.running

    def _show(self) -> None:
        if self._machine.measuring.running:
            self.stage = Look.MEASURING
        elif self._machine.report is not None:
            self.stage = Look.DONE
        elif self._workspace.engine_state().phase is EnginePhase.STOPPED:
            self.stage = Look.FAILED
        else:
            self.stage = Look.LOOKING
        self.changed.emit()
