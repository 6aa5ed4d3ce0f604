"""SIGINT and SIGTERM close the window in order instead of cutting the process off."""

from __future__ import annotations

import signal
import socket
from types import FrameType

from PySide6.QtCore import QObject, QSocketNotifier, Signal, Slot


class TerminationSignals(QObject):
    """Turns the two signals into a Qt signal.

    Python runs its handlers only when the interpreter gets control, which an idle event loop does not give; the
    wake-up descriptor does.
    """

    received = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)
        self._notifier = QSocketNotifier(self._reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._wake)
        self._before = {
            number: signal.signal(number, self._handle) for number in (signal.SIGINT, signal.SIGTERM)
        }
        self._wakeup_before = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)

    def close(self) -> None:
        """Put back what was there before."""
        signal.set_wakeup_fd(self._wakeup_before)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._notifier.setEnabled(False)
        self._reader.close()
        self._writer.close()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        """Nothing here: the descriptor has woken the event loop, which does the rest."""

    @Slot()
    def _wake(self) -> None:
        try:
            numbers = self._reader.recv(64)
        except BlockingIOError:
            return
        if {signal.SIGINT, signal.SIGTERM} & set(numbers):
            self.received.emit()
