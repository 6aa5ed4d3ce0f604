"""Says once in a session that the computer runs on battery, or is too hot to be fast."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.worker import Worker
from app.chat.conversation import Message, MessageState
from app.words import mark, tr
from engine.planning.probes.power import is_hot, read_power

_ON_BATTERY = mark("Running on battery: replies may be slower.")
_HOT = mark("The computer is hot: replies may be slower until it has cooled down.")


class PowerWatch(QObject):
    """Asks the sensors when a reply begins, in a thread of its own: some of them take a second."""

    remark = Signal(str)  # one sentence, once

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = Worker("tenon-power", self)
        self._asked: set[int] = set()  # replies
        self._done = False

    @Slot(object)
    def reply_changed(self, message: Message) -> None:
        """Ask once for each reply that is being written."""
        if not self._done and message.state is MessageState.STREAMING and message.id not in self._asked:
            self._asked.add(message.id)
            self._worker.run(_trouble, self._tell)

    def close(self) -> None:
        """End the thread."""
        self._worker.finish()

    def _tell(self, trouble: str) -> None:
        if trouble and not self._done:
            self._done = True
            self.remark.emit(tr(trouble))


def _trouble() -> str:
    """Sentence on the reason to be slow, marked; empty where there is none."""
    if read_power().on_mains is False:
        return _ON_BATTERY
    return _HOT if is_hot() else ""
