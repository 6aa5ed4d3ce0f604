"""The access token for models that ask for an account, looked after in a thread: a keyring may ask for a password."""

from __future__ import annotations

import threading
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal, Slot

from engine.errors import TenonError


class HubAccess(QObject):
    """Keeps, forgets and looks for the token; what it is never comes here.

    Attributes:
        known: Whether there is a token; None while nobody has looked.
    """

    told = Signal(str)  # it was looked, kept or forgotten; a sentence where that failed
    _done = Signal(bool, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.known: bool | None = None
        self._done.connect(self._take, Qt.ConnectionType.QueuedConnection)

    def look(self) -> None:
        """Find out whether there is a token; `told` follows."""
        self._run(lambda: None)

    def keep(self, token: str) -> None:
        """Keep a token in the system's keyring; `told` follows."""

        def work() -> None:
            from engine.hub.access_token import keep_token

            keep_token(token)

        self._run(work)

    def forget(self) -> None:
        """Remove it from there; `told` follows. One that the environment names stays."""

        def work() -> None:
            from engine.hub.access_token import forget_token

            forget_token()

        self._run(work)

    def _run(self, work: Callable[[], None]) -> None:
        threading.Thread(target=self._in_thread, args=(work,), name="tenon-keyring", daemon=True).start()

    def _in_thread(self, work: Callable[[], None]) -> None:
        # Imported here: the hub's client takes a quarter of a second, which the window does not wait for.
        from engine.hub.access_token import find_token

        sentence = ""
        try:
            work()
        except TenonError as error:
            sentence = error.message
        known = find_token() is not None
        try:
            self._done.emit(known, sentence)
        except RuntimeError:  # the window was closed meanwhile
            return

    @Slot(bool, str)
    def _take(self, known: bool, sentence: str) -> None:
        self.known = known
        self.told.emit(sentence)
