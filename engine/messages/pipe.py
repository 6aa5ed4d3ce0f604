"""Messages on their way through a pipe: pickled, with a checksum, and nothing but messages unpickled.

A damaged pickle could call any function there is, and a number that is merely another one would be believed.
"""

from __future__ import annotations

import pickle
import zlib
from dataclasses import is_dataclass
from io import BytesIO
from multiprocessing.connection import Connection
from typing import Any

_SUM_BYTES = 4
# Conversations bring the text of attached files, and no pipe of ours has ever carried a tenth of this.
_MOST_BYTES = 1 << 30


class MessageDamaged(Exception):
    """The bytes that came are no message: the other end's memory is damaged, or it is of another version."""


def send(connection: Connection, message: object) -> None:
    """Send a message. Raises OSError where nobody takes it any more."""
    connection.send_bytes(packed(message))


def receive(connection: Connection) -> Any:
    """Wait for the next message: a dataclass of `engine.messages`.

    Raises:
        EOFError, OSError: The pipe has ended.
        MessageDamaged: The bytes that came are no message.
    """
    return unpacked(connection.recv_bytes(_MOST_BYTES))


def packed(message: object) -> bytes:
    """Return a message as it crosses a pipe."""
    pickled = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return zlib.crc32(pickled).to_bytes(_SUM_BYTES, "little") + pickled


def unpacked(data: bytes) -> Any:
    """Return the message that `packed` was given; raise MessageDamaged for other bytes."""
    pickled = data[_SUM_BYTES:]
    if int.from_bytes(data[:_SUM_BYTES], "little") != zlib.crc32(pickled):
        raise MessageDamaged("its checksum is another one")
    try:
        message = _Unpickler(BytesIO(pickled)).load()
    except Exception as error:  # whatever pickle makes of it
        raise MessageDamaged(repr(error)) from error
    if not is_dataclass(message) or isinstance(message, type):
        raise MessageDamaged(f"{type(message).__name__} is no message")
    return message


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        ours = module.startswith("engine.messages.") or module == "engine.errors"  # whose one dataclass reports hold
        found = super().find_class(module, name) if ours else None
        if not isinstance(found, type) or not is_dataclass(found):
            raise pickle.UnpicklingError(f"{module}.{name} is no message")
        return found
