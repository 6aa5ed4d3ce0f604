"""The engine in a process of its own, so that an out-of-memory kill ends a reply and not the window."""

from __future__ import annotations

import atexit
import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from multiprocessing import process
from multiprocessing.connection import Connection

from engine.child_process import belong_to_window, spawning
from engine.errors import Cancelled
from engine.graphics.known import keep_crash
from engine.messages import (
    Cancel,
    Command,
    ErrorReport,
    Event,
    Failed,
    Finished,
    HandedBack,
    Ping,
    Request,
    Shutdown,
    TextDrafted,
    TokensAdded,
)
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
# Comes back after all that an engine hands back
_LAST = Ping(-1)


def run_engine(connection: Connection, serve: str = SERVE, torch: bool = False) -> None:
    """Run an engine at the other end of a pipe, in this process.

    Args:
        connection: This end of the pipe.
        serve: ``module:function`` that does the work until the pipe ends.
        torch: True if it needs torch; else the engine begins without, where that is possible.
    """
    belong_to_window()
    # The other end imports this file, and never needs that one.
    from engine import small_torch
    from engine.gpu_addon.check import activate

    problem = activate()
    if problem is not None:
        _log.warning(problem)
    if serve == SERVE and not torch and small_torch.can_install():
        small_torch.install()
    module, _, function = serve.partition(":")
    getattr(import_module(module), function)(connection)


class EngineProcess:
    """Child process with a thread that reads its events and a thread that sends it commands.

    A child that needs torch and has none is followed by one that has it, which gets the commands that were not done.

    Args:
        run: Function that the child calls with its end of the pipe; it is pickled. The second child calls it with
            ``torch=True``.
        on_event: Called with each event, from the reading thread. With `HandedBack` one child follows another,
            and takes no commands before its own `EngineReady`.
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
        self._run: Callable[..., None] = run
        self._ending = threading.Event()
        self._told: dict[str, tuple[int, int]] = {}  # tokens and characters of open replies; see `_tell`
        self._follows = False  # True for the second child
        self._sending = threading.RLock()  # held while a command is sent, and while one child follows another
        self._start(run)
        self._sender = threading.Thread(target=self._send, name="tenon-engine-send", daemon=True)
        self._reader = threading.Thread(target=self._read, name="tenon-engine-read", daemon=True)
        self._sender.start()
        self._reader.start()

    def _start(self, run: Callable[[Connection], None]) -> None:
        context = spawning()
        self._connection, theirs = context.Pipe(duplex=True)
        # No daemon of multiprocessing's, for it has processes of its own; ended with this one just the same.
        started = context.Process(target=run, args=(theirs,), name="tenon-engine")
        started.start()
        self._process = started  # which other threads may signal
        atexit.register(self._process.kill)
        theirs.close()  # or the pipe would not end with the child

    @property
    def process_id(self) -> int | None:
        """Process id of the child."""
        return self._process.pid

    def send(self, command: Command) -> None:
        """Hand a command to the child; return at once, even if the child does not listen."""
        self._commands.put(command)

    def kill(self) -> None:
        """End the child at once; `on_exit` follows if the system can end it."""
        self._ending.set()
        if self._reader.is_alive():
            self._process.kill()

    def close(self) -> None:
        """End the child and the threads: by asking, then by signals."""
        self._ending.set()
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
        self._ending.set()
        atexit.unregister(self._process.kill)
        process._children.discard(self._process)  # type: ignore[attr-defined]  # or Python would wait at its end

    def _send(self) -> None:
        while (command := self._commands.get()) is not None:
            try:
                with self._sending:
                    send_message(self._connection, command)
            except OSError:  # the child is gone; the reading thread has seen it too
                return

    def _read(self) -> None:
        damaged = self._read_child()
        self._commands.put(None)
        self._sender.join()
        self._connection.close()
        keep_crash(self._process.pid, self._process.exitcode)
        self._on_exit(None if damaged else self._process.exitcode)

    def _follow(self, command: Command) -> None:
        """Let a child with torch go on from a command that this one has handed back."""
        back = [command]
        self._hear_rest(back)  # replies that it still writes end, or are cancelled
        with self._sending:
            self._hear_rest(back)  # what was sent to it meanwhile
            send_message(self._connection, Shutdown())
            self._end()
            self._connection.close()
            if self._ending.is_set():
                return
            self._follows = True
            self._on_event(HandedBack(command))
            self._start(partial(self._run, torch=True))
            if self._ending.is_set():  # since it was asked
                self._process.kill()
            for handed_back in back:
                send_message(self._connection, handed_back)

    def _hear_rest(self, back: list[Command]) -> None:
        """Read events until the child is done with all that it was sent; collect what it hands back."""
        with self._sending:
            send_message(self._connection, _LAST)
        while (event := receive(self._connection)) != HandedBack(_LAST):
            if not isinstance(event, HandedBack):
                self._tell(event)
            elif isinstance(event.command, Cancel) and (asked := _asked(back, event.command.request_id)):
                back.remove(asked)
                self._tell(Failed(event.command.request_id, ErrorReport(Cancelled.__name__, "")))
            else:
                back.append(event.command)

    def _tell(self, event: Event) -> None:
        """Tell an event; the second child's replies begin anew, and what was told of them is not told again."""
        if isinstance(event, TokensAdded):
            tokens, characters = self._told.get(event.request_id, (0, 0))
            sign = -1 if self._follows else 1
            self._told[event.request_id] = (
                max(tokens + sign * len(event.token_ids), 0),
                max(characters + sign * len(event.text), 0),
            )
            if self._follows:
                left = max(event.drafted - tokens, 0)
                event = replace(event, text=event.text[characters:], token_ids=event.token_ids[tokens:], drafted=left)
        elif isinstance(event, TextDrafted) and self._follows and any(self._told.get(event.request_id, ())):
            return  # a guess of what was told
        elif isinstance(event, Finished | Failed):
            self._told.pop(event.request_id, None)
        self._on_event(event)

    def _read_child(self) -> bool:
        """Read events until the child ends; return True if it was damaged."""
        damaged = False
        try:
            while True:
                event = receive(self._connection)
                if isinstance(event, HandedBack):
                    self._follow(event.command)
                else:
                    self._tell(event)
        except (EOFError, OSError):
            pass
        except Exception as error:  # no message: the child's memory is damaged, or it runs another version
            damaged = isinstance(error, MessageDamaged)
            _log.exception("The engine sent something unreadable")
            self._process.terminate()
        self._end()
        return damaged

    def _end(self) -> None:
        """Wait for the child's end; only the reading thread does: two would take the exit code from each other."""
        self._process.join(_END_S)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join(_KILL_S)
        atexit.unregister(self._process.kill)


def _asked(commands: list[Command], request_id: str) -> Command | None:
    return next((one for one in commands if isinstance(one, Request) and one.request_id == request_id), None)
