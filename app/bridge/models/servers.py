"""Servers whose models are used like those of this computer: asked, kept, forgotten; and the hub's access token."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from PySide6.QtCore import QObject, Signal

from app.bridge.worker import Worker, nothing
from app.chat.model_entries import ServerEntry
from engine.errors import TenonError
from engine.hub.endpoints import (
    Endpoint,
    endpoints,
    forget_endpoint,
    free_name,
    keep_endpoint,
    read_address,
    renew_endpoint,
)


class Servers(QObject):
    """Everything here happens in a thread, as servers may be slow; the signals come in the window's."""

    added = Signal(object)  # ServerEntry
    refused = Signal(str)  # one sentence: why a server was not added
    changed = Signal()  # servers or their models
    problem = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = Worker("models-servers", self)
        self._asking = Worker("models-servers-asked", self)  # one that does not answer keeps nobody waiting

    def add(self, address: str, key: str, name: str) -> None:
        """Ask a server what it has, and keep it, as its host without a name; `added` or `refused` follows.

        An empty key is none, or the one that is kept already.
        """

        def then(entry: ServerEntry) -> None:
            self.changed.emit()
            self.added.emit(entry)

        self._worker.run(lambda: _added(address, key.strip(), name), then, self._refuse)

    def forget(self, name: str) -> None:
        """Forget a server and its key; `changed` follows."""
        self._worker.run(
            lambda: forget_endpoint(name),
            lambda _: self.changed.emit(),
            lambda error: self.problem.emit(error.message),
        )

    def ask_again(self) -> None:
        """Ask every server for its models, quietly; `changed` follows where some came or went."""
        self._asking.run(_asked_again, lambda changed: self.changed.emit() if changed else None)

    def close(self) -> None:
        """Do nothing more. May be called twice."""
        self._worker.close()
        self._asking.close()

    def _refuse(self, error: TenonError) -> None:
        self.refused.emit(error.message)


def _added(address: str, key: str, name: str) -> ServerEntry:
    from engine.remote.probe import probe, unencrypted

    address = read_address(address)
    found = probe(Endpoint(free_name(address, name), address), key or None)
    if key:
        found.keep_key(key)
    keep_endpoint(found)
    return ServerEntry(found.name, len(found.models), unencrypted(found, bool(found.key())))


def _asked_again() -> bool:
    changed = False
    for server in endpoints():
        from engine.remote.probe import probe  # where there is no server, its client need not be in memory

        try:
            found = probe(server)
        except TenonError:
            continue  # whoever chooses one of its models is told
        changed |= found != server and renew_endpoint(server, found)
    return changed


class HubAccess(QObject):
    """Keeps, forgets and looks for the token; what it is never comes here."""

    told = Signal(str)  # it was looked, kept or forgotten; a sentence where that failed

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.known: bool | None = None  # True if there is a token; None while nobody has looked
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
