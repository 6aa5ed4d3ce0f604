"""One window for each user and data folder: a second start hands its files to the first and ends.

Neither side believes a path: each asks the system who is at the other end of the socket (on Windows, a pipe's access
list lets nobody else in).
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import logging
import os
import socket as sockets
import struct
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from urllib.parse import quote_from_bytes, unquote_to_bytes

from PySide6.QtCore import QDir, QLockFile, QObject, QTimer, Signal, Slot
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from engine.hub.model_folders import data_folder
from engine.json_text import read_json

_log = logging.getLogger(__name__)

_CONNECT_MS = 500
# A first window that reads a large database, or that Qt lays out, answers later than this only when it hangs.
_ANSWER_MS = 5_000
_MOST_BYTES = 1 << 20
# Sockets at once, and how long one may take to say what it wants: each has a descriptor of the window's.
_MOST_SOCKETS = 16
_AGE_MS = 10_000
_TAKEN = b"taken\n"
_STRANGER = "The socket %s belongs to another user: nothing was taken from it, nor handed over"
# By these names the systems let a window come to the front that another program was asked to show.
_TOKENS = ("XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID")


def instance_name(folder: Path | None = None) -> str:
    """Return the instance's name for a data folder; None is the usual folder.

    It is the same for all starts of one user with one data folder: a path, or a name where sockets lie by
    default.
    """
    person = str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "")
    digest = hashlib.sha256(f"{person}\n{(folder or data_folder()).resolve()}".encode()).hexdigest()
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")  # of this user alone, and the same whatever TMPDIR is
    usable = bool(runtime) and os.access(runtime, os.W_OK)
    return str(Path(runtime if usable else "", f"tenon-{digest[:24]}"))


class SingleInstance(QObject):
    """A socket that the first window listens at. Conversations are kept safe by `Presence`, whoever comes."""

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
            paths: Files that this start was asked to open; absolute.

        Returns:
            True if a window is to be opened: there is no other, or it does not answer.
        """
        # Two that start at the same moment must not both take away the other's socket.
        lock = QLockFile(QDir.temp().filePath(f"{self._name}.lock"))
        lock.tryLock(_CONNECT_MS + _ANSWER_MS)
        try:
            socket = QLocalSocket()
            socket.connectToServer(self._name)
            if socket.waitForConnected(_CONNECT_MS):
                if same_user(socket):
                    return not _hand_over(socket, paths)
                _log.warning(_STRANGER, self._name)
                return True
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
            socket.disconnected.connect(socket.deleteLater)
            if not same_user(socket):
                _log.warning(_STRANGER, self._name)
                socket.abort()
                continue
            connected = QLocalSocket.LocalSocketState.ConnectedState
            older = [one for one in self._server.findChildren(QLocalSocket) if one.state() == connected]
            if len(older) > _MOST_SOCKETS:
                older[0].abort()
            QTimer.singleShot(_AGE_MS, socket, socket.abort)
            socket.setReadBufferSize(_MOST_BYTES)
            socket.readyRead.connect(partial(self._take, socket))
            self._take(socket)

    def _take(self, socket: QLocalSocket) -> None:
        if not socket.canReadLine():
            if socket.bytesAvailable() >= _MOST_BYTES:
                socket.abort()
            return
        message = _understood(bytes(socket.readLine(_MOST_BYTES).data()))
        if message is None:
            socket.abort()
            return
        paths, tokens = message
        os.environ.update(tokens)
        socket.write(_TAKEN)
        socket.flush()
        socket.disconnectFromServer()
        self.asked.emit(paths)


def same_user(socket: QLocalSocket) -> bool:
    """Return True if the system says that the process at a socket's other end is this user's."""
    if sys.platform == "win32":
        return True  # the pipe was made for this user alone
    try:
        with sockets.socket(fileno=os.dup(socket.socketDescriptor())) as connection:
            return _peer(connection) == os.geteuid()
    except OSError:  # it is gone already
        return False


def _peer(connection: sockets.socket) -> int:
    """Return the user id of the process at the other end; raise OSError if the system does not tell it."""
    if hasattr(sockets, "SO_PEERCRED"):  # Linux: process, user, group
        told = connection.getsockopt(sockets.SOL_SOCKET, sockets.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", told)[1])
    user, group = ctypes.c_uint32(), ctypes.c_uint32()
    library = ctypes.CDLL(None, use_errno=True)
    if library.getpeereid(connection.fileno(), ctypes.byref(user), ctypes.byref(group)):
        raise OSError(ctypes.get_errno(), "getpeereid")
    return user.value


def _understood(line: bytes) -> tuple[list[str], dict[str, str]] | None:
    """Absolute paths that a second start wants opened, and tokens for the environment; None for anything else."""
    try:
        asked = read_json(line)
        paths, told = asked["open"], asked["tokens"]
        tokens = {name: told[name] for name in _TOKENS if name in told}
        if not isinstance(paths, list) or not isinstance(told, dict):
            return None
        paths = [os.fsdecode(unquote_to_bytes(path)) for path in paths]
        for text in (*paths, *tokens.values()):
            if b"\0" in os.fsencode(text):
                return None
        return (paths, tokens) if all(os.path.isabs(path) for path in paths) else None
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _hand_over(socket: QLocalSocket, paths: Sequence[str]) -> bool:
    """Return True if the first window has taken over what is to be opened."""
    if sys.platform == "win32":  # only the program in front can let another come there
        ctypes.windll.user32.AllowSetForegroundWindow(-1)
    tokens = {name: os.environ[name] for name in _TOKENS if name in os.environ}
    quoted = [quote_from_bytes(os.fsencode(path)) for path in paths]  # a name may be no UTF-8
    socket.write(json.dumps({"open": quoted, "tokens": tokens}).encode() + b"\n")
    return socket.waitForReadyRead(_ANSWER_MS) and bytes(socket.readLine(64).data()) == _TAKEN
