"""The access token for models that ask for an account, looked after in a thread: a keyring may ask for a password."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from PySide6.QtCore import QObject, Signal

from app.bridge.worker import Worker, nothing
from engine.errors import TenonError


class HubAccess(QObject):
    """Keeps, forgets and looks for the token; what it is never comes here.

    Attributes:
        known: True if there is a token; None while nobody has looked.
    """

    told = Signal(str)  # it was looked, kept or forgotten; a sentence where that failed

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.known: bool | None = None
        self._worker = Worker("tenon-keyring", self)

    def look(self) -> None:
        """Find out whether there is a token; `told` follows."""
        self._run(nothing)

    def keep(self, token: str) -> None:
        """Keep a token in the system's keyring; `told` follows."""
        self._run(lambda keyring: keyring.keep_token(token))

    def forget(self) -> None:
        """Remove it from there; `told` follows. One that the environment names stays."""
        self._run(lambda keyring: keyring.forget_token())

    def close(self) -> None:
        """Do nothing more. May be called twice."""
        self._worker.close()

    def _run(self, act: Callable[[ModuleType], object]) -> None:
        def work() -> tuple[bool, str]:
            from engine.hub import connection  # the hub's client takes a quarter of a second

            sentence = ""
            try:
                act(connection)
            except TenonError as error:
                sentence = error.message
            return connection.find_token() is not None, sentence

        def then(found: tuple[bool, str]) -> None:
            self.known, sentence = found
            self.told.emit(sentence)

        self._worker.run(work, then, lambda error: self.told.emit(error.message))
