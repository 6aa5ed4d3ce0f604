"""The engine in a thread of the window's process, for debuggers and for machines without child processes."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable

from engine.messages import Command, Event

_log = logging.getLogger(__name__)


class EngineThread:
    """Imports the engine and feeds it, away from the window's thread.

    Args:
        on_event: Called with each event, from the engine's thread.
        on_exit: Called with an exit code when the engine cannot be had at all.
    """

    def __init__(self, on_event: Callable[[Event], None], on_exit: Callable[[int | None], None]) -> None:
        self._on_event = on_event
        self._on_exit = on_exit
        self._commands: queue.SimpleQueue[Command | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="tenon-engine-host", daemon=True)
        self._thread.start()

    def send(self, command: Command) -> None:
        """Hand a command to the engine; returns at once."""
        self._commands.put(command)

    def kill(self) -> None:
        """A thread cannot be killed: a reply that does not stop goes on until it does."""

    def close(self) -> None:
        """End the engine and wait for it."""
        self._commands.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            from engine.gpu_addon.activation import activate

            problem = activate()
            if problem is not None:
                _log.warning(problem)
            from engine import Engine  # imports torch: seconds, which the window must not wait for

            engine = Engine(self._on_event)
        except Exception:
            _log.exception("The engine could not be imported")
            self._on_exit(1)
            return
        while (command := self._commands.get()) is not None:
            engine.submit(command)
        engine.close()
