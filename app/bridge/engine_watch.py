"""The engine's watchdog: one that neither goes on nor answers is ended and started again."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Slot

from app.bridge.engine_client import EngineClient
from app.bridge.model_in_engine import ModelInEngine
from app.words import mark, tr

# Silence is counted in ticks and not by a clock: while the computer sleeps, or this process stands still, none come.
TICK_MS = 5_000
PATIENCE_TICKS = 12
# Importing its libraries, the engine waits for a child that tries a GPU, for three minutes at most.
START_TICKS = 48
_SENTENCE = mark("The engine neither computed nor answered, so it was ended and started again.")


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
