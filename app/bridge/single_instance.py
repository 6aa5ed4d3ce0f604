"""One window for each person and data folder: a second start hands its files to the first and ends."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QDir, QLockFile, QObject, Signal, Slot
from PySide6.QtNetwork import QLocalServer, QLocalSocket

_CONNECT_MS = 500
# A first window that reads a large database, or that Qt lays out, answers later than this only when it hangs.
_ANSWER_MS = 5_000
_MOST_BYTES = 1 << 20
_TAKEN = b"taken\n"
# By these names the systems let a window come to the front that another program was asked to show.
_TOKENS = ("XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID")


def instance_name(data_folder: Path) -> str:
    """The same for all starts of one person with one data folder: a path, or a name where sockets lie by default."""
    person = str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "")
    digest = hashlib.sha256(f"{person}\n{data_folder.resolve()}".encode()).hexdigest()
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")  # of this person alone, and the same whatever TMPDIR is
    usable = bool(runtime) and os.access(runtime, os.W_OK)
    return str(Path(runtime if usable else "", f"tenon-{digest[:24]}"))


class SingleInstance(QObject):
    """A socket that the first window listens at. Conversations are kept safe by `Presence`, whoever comes.

    Args:
        name: `instance_name`.
    """

    asked = Signal(object)  # list of str: what a second start is to open; empty where it is only to be seen

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._connected)

    def claim(self, paths: Sequence[str]) -> bool:
        """Become the first, or have the first open some files.

        Args:
            paths: What this start was asked to open; absolute.

        Returns:
            Whether to open a window: there is no other, or it does not answer.
        """
        # Two that start at the same moment must not both take away the other's socket.
        lock = QLockFile(QDir.temp().filePath(f"{self._name}.lock"))
        lock.tryLock(_CONNECT_MS + _ANSWER_MS)
        try:
            socket = QLocalSocket()
            socket.connectToServer(self._name)
            if socket.waitForConnected(_CONNECT_MS):
                return not _hand_over(socket, paths)
            # A crash leaves the socket's file behind; nobody listens there.
            QLocalServer.removeServer(self._name)
            self._server.listen(self._name)
            return True
        finally:
            lock.unlock()

    def close(self) -> None:
        """Let another start be the first."""
        self._server.close()

    @Slot()
    def _connected(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:
            socket.readyRead.connect(self._read)
            socket.disconnected.connect(socket.deleteLater)
            self._take(socket)

    @Slot()
    def _read(self) -> None:
        socket = self.sender()
        if isinstance(socket, QLocalSocket):
            self._take(socket)

    def _take(self, socket: QLocalSocket) -> None:
        if not socket.canReadLine():
            if socket.bytesAvailable() > _MOST_BYTES:
                socket.abort()
            return
        try:
            asked = json.loads(bytes(socket.readLine(_MOST_BYTES).data()))
            paths = [str(path) for path in asked["open"]]
            tokens = {name: str(asked["tokens"][name]) for name in _TOKENS if name in asked["tokens"]}
        except (ValueError, TypeError, KeyError):
            socket.abort()
            return
        os.environ.update(tokens)
        socket.write(_TAKEN)
        socket.flush()
        socket.disconnectFromServer()
        self.asked.emit(paths)


def _hand_over(socket: QLocalSocket, paths: Sequence[str]) -> bool:
    """Whether the first window has taken over what is to be opened."""
    if sys.platform == "win32":  # only the program in front can let another come there
        import ctypes

        ctypes.windll.user32.AllowSetForegroundWindow(-1)
    tokens = {name: os.environ[name] for name in _TOKENS if name in os.environ}
    socket.write(json.dumps({"open": list(paths), "tokens": tokens}).encode() + b"\n")
    return socket.waitForReadyRead(_ANSWER_MS) and bytes(socket.readLine(64).data()) == _TAKEN
