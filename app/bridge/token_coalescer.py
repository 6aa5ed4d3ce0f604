"""Gathers tokens, so that the transcript is drawn thirty times a second and not three hundred."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal, Slot

INTERVAL_MS = 33


class TokenCoalescer(QObject):
    """Passes the first text on at once, then what has come in each interval.

    Unconfirmed text comes the same way, behind the text that it follows; only the latest is of interest.
    """

    text_ready = Signal(str)
    unconfirmed_ready = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pieces: list[str] = []
        self._unconfirmed = ""
        self._unconfirmed_passed_on = ""
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(self._pass_on)

    def add(self, text: str) -> None:
        """Take some text; what was unconfirmed is void."""
        self._unconfirmed = ""
        if text:
            self._pieces.append(text)
        self._pass_on_soon()

    def draft(self, text: str) -> None:
        """Take unconfirmed text in place of the last."""
        self._unconfirmed = text
        self._pass_on_soon()

    def flush(self) -> None:
        """Pass on what is left: the reply is over, and nothing is unconfirmed any more."""
        self._timer.stop()
        self._unconfirmed = ""
        self._emit()

    @property
    def _waits(self) -> bool:
        return bool(self._pieces) or self._unconfirmed != self._unconfirmed_passed_on

    def _pass_on_soon(self) -> None:
        if self._waits and not self._timer.isActive():
            self._pass_on()

    @Slot()
    def _pass_on(self) -> None:
        if self._waits:
            self._timer.start()
            self._emit()

    def _emit(self) -> None:
        if self._pieces:
            text = "".join(self._pieces)
            self._pieces.clear()
            self.text_ready.emit(text)
        if self._unconfirmed != self._unconfirmed_passed_on:
            self._unconfirmed_passed_on = self._unconfirmed
            self.unconfirmed_ready.emit(self._unconfirmed)
