"""Says once in a session that the computer runs on battery, or is too hot to be fast."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.worker import Worker
from app.chat.conversation import Message, MessageState
from app.words import tr
from engine.planning.probes.power import is_hot, read_power


class PowerWatch(QObject):
    """Asks the sensors when a reply begins, in a thread of its own: some of them take a second."""

    remark = Signal(str)  # one sentence, once

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread: Worker | None = None
        self._asked: set[int] = set()  # replies
        self._done = False
        self._on_battery = self._hot = False

    @Slot(object)
    def reply_changed(self, message: Message) -> None:
        """Ask once for each reply that is being written."""
        if not self._done and message.state is MessageState.STREAMING and message.id not in self._asked:
            self._asked.add(message.id)
            self._thread = self._thread or Worker("tenon-power", self)
            self._thread.run(self._ask, self._tell)

    def close(self) -> None:
        """End the thread."""
        if self._thread is not None:
            self._thread.finish()

    def _ask(self) -> None:
        self._on_battery = read_power().on_mains is False
        self._hot = is_hot()

    def _tell(self, asked: None) -> None:
        if self._done or not (self._on_battery or self._hot):
            return
        self._done = True
        if self._on_battery:
            self.remark.emit(tr("Running on battery: replies may be slower."))
        else:
            self.remark.emit(tr("The computer is hot: replies may be slower until it has cooled down."))
