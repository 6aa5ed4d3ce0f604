"""Takes the model out of memory when nothing was asked of it for a while."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, Slot

from app.bridge.engine_client import EngineClient
from app.bridge.idle_watch import IdleWatch
from app.bridge.model_in_engine import ModelInEngine
from app.bridge.replies import Replies
from app.chat.engine_state import EnginePhase
from app.settings.settings import Settings

_LOOK_MS = 15_000


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
        super().__init__(client, _LOOK_MS, parent, clock)
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
