"""The engine at the far end of a pipe, in a child process of the window or the server."""

from __future__ import annotations

import contextlib
import logging
import threading
from multiprocessing.connection import Connection

from engine import Engine
from engine.messages import Event, Shutdown
from engine.messages.pipe import MessageDamaged, receive
from engine.messages.pipe import send as send_message

_log = logging.getLogger(__name__)


def serve(connection: Connection) -> None:
    """Run an engine until the other end closes the pipe or asks for a `Shutdown`.

    Args:
        connection: Pipe that brings `Command` objects and takes `Event` objects.
    """
    sending = threading.Lock()

    def send(event: Event) -> None:
        # A window that is gone wants no more events; its end of the pipe is noticed below.
        with sending, contextlib.suppress(OSError):
            send_message(connection, event)

    engine = Engine(send)
    try:
        while True:
            command = receive(connection)
            if isinstance(command, Shutdown):
                return
            engine.submit(command)
    except (EOFError, OSError):
        return
    except MessageDamaged:
        _log.exception("The window sent something unreadable")  # it notices the end, and starts another engine
    finally:
        engine.close()
        connection.close()
