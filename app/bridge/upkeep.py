"""Upkeep beside the chats: rest, measuring, the engine's watchdog, battery, and texts for when something goes wrong."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.bridge.diagnostics import Diagnostics
from app.bridge.engine_client import EngineClient
from app.bridge.engine_watch import EngineWatch
from app.bridge.idle_measuring import IdleMeasuring
from app.bridge.idle_unload import IdleUnload
from app.bridge.machine import Machine
from app.bridge.model_in_engine import ModelInEngine
from app.bridge.power_watch import PowerWatch
from app.bridge.replies import Replies
from app.diagnostics.log_files import log_folder
from app.settings.settings import Settings


class Upkeep(QObject):
    """Makes these parts and ends them.

    Args:
        data_folder: Where conversations lie.
        settings: The settings.
        client: The engine.
        model: Which model it holds.
        replies: The replies to come.
        machine: This computer.

    Attributes:
        diagnostics: Texts about this installation.
    """

    remark = Signal(str)  # a sentence that need not stay

    def __init__(
        self,
        data_folder: Path,
        settings: Settings,
        client: EngineClient,
        model: ModelInEngine,
        replies: Replies,
        machine: Machine,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.diagnostics = Diagnostics(log_folder(), data_folder, lambda: model.state)
        self._power = PowerWatch(self)
        self._power.remark.connect(self.remark)
        replies.message_changed.connect(self._power.reply_changed)
        self.idle = IdleUnload(settings, client, model, replies, self)
        self.measuring = IdleMeasuring(client, model, replies, machine, self)
        self.watch = EngineWatch(client, model, self)

    def close(self) -> None:
        """Stop the timers, and a thread."""
        self._power.close()
        self.idle.timer.stop()
        self.measuring.timer.stop()
        self.watch.timer.stop()
