"""The engine at the far end of a pipe: what the window's child process runs."""

from __future__ import annotations

import contextlib
import threading
from multiprocessing.connection import Connection

from engine import Engine
from engine.messages import Event, Shutdown


def serve(connection: Connection) -> None:
    """Run an engine until the other end closes the pipe or asks for a `Shutdown`.

    Args:
        connection: `Command` objects come in, `Event` objects go out.
    """
    sending = threading.Lock()

    def send(event: Event) -> None:
        # A window that is gone wants no more events; its end of the pipe is noticed below.
        with sending, contextlib.suppress(OSError):
            connection.send(event)

    engine = Engine(send)
    try:
        while True:
            command = connection.recv()
            if isinstance(command, Shutdown):
                return
            engine.submit(command)
    except (EOFError, OSError):
        return
    finally:
        engine.close()
        connection.close()
