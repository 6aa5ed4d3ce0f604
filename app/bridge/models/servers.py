"""Servers whose models are used like those of this computer: asked, kept, and forgotten."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.bridge.worker import Worker
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
        """Ask a server what it has, and keep it; `added` or `refused` follows.

        Args:
            address: Address as the user has typed it.
            key: Empty for none, or for the one that is kept already.
            name: Empty for the host's.
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
    from engine.remote.probe import probe

    changed = False
    for server in endpoints():
        try:
            found = probe(server)
        except TenonError:
            continue  # whoever chooses one of its models is told
        changed |= found != server and renew_endpoint(server, found)
    return changed
