"""The engine in a process of its own, so that an out-of-memory kill ends a reply and not the window."""

from __future__ import annotations

import atexit
import logging
import queue
import threading
from collections.abc import Callable
from importlib import import_module
from multiprocessing import process
from multiprocessing.connection import Connection

from engine.child_process import belong_to_window, spawning
from engine.messages import Command, Event, Shutdown
from engine.messages.pipe import MessageDamaged, receive
from engine.messages.pipe import send as send_message

_log = logging.getLogger(__name__)

SERVE = "engine.process:serve"
# Closing the window takes less than a second, whatever the engine does.
_SHUTDOWN_S = 0.35
_TERMINATE_S = 0.15
_KILL_S = 5.0
# An engine that fails closes its pipe first, and its libraries take their time to end. One that was killed before would
# be told of as one that ran out of memory.
_END_S = 15.0


def run_engine(connection: Connection, serve: str = SERVE) -> None:
    """Run an engine at the other end of a pipe, in this process.

    Args:
        connection: This end of the pipe.
        serve: ``module:function`` that does the work until the pipe ends.
    """
    belong_to_window()
    # The other end imports this file, and never needs that one.
    from engine.gpu_addon.check import activate

    problem = activate()
    if problem is not None:
        _log.warning(problem)
    module, _, function = serve.partition(":")
    getattr(import_module(module), function)(connection)


class EngineProcess:
    """Child process with a thread that reads its events and a thread that sends it commands.

    Args:
        run: Function that the child calls with its end of the pipe; it is pickled.
        on_event: Called with each event, from the reading thread.
        on_exit: Called last, once, with the exit code (negative: a signal), from the reading thread; None if the
            child was ended because it sent something that cannot be read.

    Raises:
        OSError: The system has no room for another process.
    """

    def __init__(
        self,
        run: Callable[[Connection], None],
        on_event: Callable[[Event], None],
        on_exit: Callable[[int | None], None],
    ) -> None:
        self._on_event = on_event
        self._on_exit = on_exit
        self._commands: queue.SimpleQueue[Command | None] = queue.SimpleQueue()
        context = spawning()
        self._connection, theirs = context.Pipe(duplex=True)
        # No daemon of multiprocessing's, for it has processes of its own; ended with this one just the same.
        self._process = context.Process(target=run, args=(theirs,), name="tenon-engine")
        self._process.start()
        atexit.register(self._process.kill)
        theirs.close()  # or the pipe would not end with the child
        self._sender = threading.Thread(target=self._send, name="tenon-engine-send", daemon=True)
        self._reader = threading.Thread(target=self._read, name="tenon-engine-read", daemon=True)
        self._sender.start()
        self._reader.start()

    @property
    def process_id(self) -> int | None:
        """Process id of the child."""
        return self._process.pid

    def send(self, command: Command) -> None:
        """Hand a command to the child; return at once, even if the child does not listen."""
        self._commands.put(command)

    def kill(self) -> None:
        """End the child at once; `on_exit` follows if the system can end it."""
        if self._reader.is_alive():
            self._process.kill()

    def close(self) -> None:
        """End the child and the threads: by asking, then by signals."""
        self.send(Shutdown())
        self._reader.join(_SHUTDOWN_S)
        if self._reader.is_alive():
            self._process.terminate()
            self._reader.join(_TERMINATE_S)
        self.kill()
        self._reader.join(_KILL_S)
        if self._reader.is_alive():
            self.leave()

    def leave(self) -> None:
        """Wait no longer for a child that no signal ends."""
        atexit.unregister(self._process.kill)
        process._children.discard(self._process)  # type: ignore[attr-defined]  # or Python would wait at its end

    def _send(self) -> None:
        while (command := self._commands.get()) is not None:
            try:
                send_message(self._connection, command)
            except OSError:  # the child is gone; the reading thread has seen it too
                return

    def _read(self) -> None:
        damaged = False
        try:
            while True:
                self._on_event(receive(self._connection))
        except (EOFError, OSError):
            pass
        except Exception as error:  # no message: the child's memory is damaged, or it runs another version
            damaged = isinstance(error, MessageDamaged)
            _log.exception("The engine sent something unreadable")
            self._process.terminate()
        # Only this thread waits for the child: two that do would take the exit code from each other.
        self._process.join(_END_S)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join(_KILL_S)
        atexit.unregister(self._process.kill)
        self._commands.put(None)
        self._sender.join()
        self._connection.close()
        self._on_exit(None if damaged else self._process.exitcode)
