"""Gathers tokens, so that the transcript is drawn thirty times a second and not three hundred."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal, Slot

INTERVAL_MS = 33


class TokenCoalescer(QObject):
    """Passes the first text on at once, then what has come in each interval."""

    text_ready = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pieces: list[str] = []
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(self._pass_on)

    def add(self, text: str) -> None:
        """Take some text."""
        if not text:
            return
        self._pieces.append(text)
        if not self._timer.isActive():
            self._pass_on()

    def flush(self) -> None:
        """Pass on what is left: the reply is over."""
        self._timer.stop()
        if self._pieces:
            self._emit()

    @Slot()
    def _pass_on(self) -> None:
        if self._pieces:
            self._timer.start()
            self._emit()

    def _emit(self) -> None:
        text = "".join(self._pieces)
        self._pieces.clear()
        self.text_ready.emit(text)
