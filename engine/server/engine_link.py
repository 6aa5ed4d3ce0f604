"""The engine's process as the server's event loop sees it: requests wait their turn, and each gets its own events."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from engine import messages
from engine.engine_process import EngineProcess, run_engine
from engine.errors import EngineStopped
from engine.server.refusal import Refused

#: Requests that the engine has at once; further ones wait here, so that others who use it are not behind them all.
MOST_RUNNING = 16
MOST_WAITING = 64
#: Most of them with a long text or a form that have not begun: these are prepared one by one, and others pass.
_MOST_PREPARED = 4
_LONG_BYTES = 32 << 10
_RETRY_AFTER_S = 5
_BUSY = "Too many requests wait for the model already: try again in a few seconds."
_STOPPED = "The engine stopped unexpectedly ({how}): ask again, and it starts anew."
_CLOSING = "The server is stopping: ask again when it runs."
_ENDS = (messages.Finished, messages.Failed, messages.TokensCounted)

Asked = messages.Generate | messages.CountTokens
# Silence is counted in ticks and not by a clock: while the computer sleeps, or this process stands still, none come.
# Layers that are computed and bytes that are read are told of (`Working`): a processor's time alone may be a loop.
TICK_S = 5.0
PATIENCE_TICKS = 12
# Importing its libraries, the engine waits for a child that tries a GPU, for three minutes at most.
START_TICKS = 48
_HUNG = "The engine neither computed nor answered, so it was ended: ask again, and it starts anew."


class EngineHost(Protocol):
    """Owner of the engine: `EngineProcess`, or the window, which shares its own."""

    @property
    def process_id(self) -> int | None:
        """Id of the engine's process; None if its owner watches over it."""

    def send(self, command: messages.Command) -> None:
        """Hand a command over; returns at once."""

    def kill(self) -> None:
        """End the engine at once."""

    def close(self) -> None:
        """End the engine, or leave it to whoever shares it."""


HostMaker = Callable[[Callable[[messages.Event], None], Callable[[int | None], None]], EngineHost]
"""Starts an engine, and has it tell of its events and of its end, from any thread."""
_OWN_PROCESS: HostMaker = partial(EngineProcess, run_engine)


@dataclass(frozen=True)
class _Asked:
    command: Asked
    index: int
    answers: Answers
    slow: bool  # its preparation may take long


class Answers:
    """Events of requests that were asked together, each with its request's index."""

    def __init__(self, cancel: Callable[[Answers], None]) -> None:
        self._cancel = cancel
        self._events: deque[tuple[int, messages.Event]] = deque()
        self._waiting: asyncio.Future[None] | None = None
        self._gathers = False

    @property
    def ready(self) -> bool:
        """True if an event waits."""
        return bool(self._events)

    async def next(self, patience_s: float | None = None, gather: bool = False) -> tuple[int, messages.Event] | None:
        """Wait for the next event; return None if none comes in this time.

        Args:
            patience_s: Time to wait; None for ever.
            gather: Let text wait until this time has passed or another event comes.
        """
        if not self._events:
            # A future and a timer: `asyncio.wait_for` makes a task for each token, which takes longer than all else.
            loop = asyncio.get_running_loop()
            waiting = self._waiting = loop.create_future()
            self._gathers = gather
            timer = None if patience_s is None else loop.call_later(patience_s, self.wake)
            try:
                await waiting
            finally:
                self._waiting = None
                if timer is not None:
                    timer.cancel()
        return self._events.popleft() if self._events else None

    def put(self, index: int, event: messages.Event) -> None:
        """Take an event that has come."""
        self._events.append((index, event))
        if not self._gathers or not isinstance(event, messages.TokensAdded | messages.StatisticsUpdated):
            self.wake()

    def wake(self) -> None:
        """Let who waits for the next event go on, without one if none has come."""
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def cancel(self) -> None:
        """Cancel the requests: nobody wants what is still to come."""
        self._cancel(self)


class EngineLink:
    """Link that gives one engine requests in the order they came, and starts it anew after it ended.

    Used from the event loop that made it, and from no other thread.

    Args:
        on_event: Called with each event before it is handed on.
        start: Starts the engine; by default in a process of its own.
        most_running: Number of requests that the engine has at once.
        most_waiting: Number of requests that may wait; more are refused.
        name: Beginning of the requests' numbers, for an engine that answers several links.
    """

    def __init__(
        self,
        on_event: Callable[[messages.Event], None] = lambda event: None,
        start: HostMaker = _OWN_PROCESS,
        most_running: int = MOST_RUNNING,
        most_waiting: int = MOST_WAITING,
        name: str = "served",
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._on_event = on_event
        self._start = start
        self._most_running = most_running
        self._most_waiting = most_waiting
        self._name = name
        self._process: EngineHost | None = None
        self._starts = 0  # tells news of this engine from news of one before
        self._asked = 0
        self._waiting: deque[_Asked] = deque()
        self._running: dict[str, _Asked] = {}
        self._preparing: set[str] = set()  # slow ones of which nothing was heard yet
        self._closing = False
        self._last_words = ""  # of an engine that is killed
        self.heard = 0  # number of events so far
        self.ready = False  # the engine that runs has said something

    @property
    def running(self) -> int:
        """Number of requests that the engine has."""
        return len(self._running)

    @property
    def waiting(self) -> int:
        """Number of requests that wait for their turn."""
        return len(self._waiting)

    @property
    def process_id(self) -> int | None:
        """Process id of the engine; None while none runs."""
        return None if self._process is None else self._process.process_id

    def ask(self, commands: Sequence[Asked]) -> Answers:
        """Hand in requests, and give them numbers of their own.

        Raises:
            Refused: Too many wait already, or the server is stopping.
        """
        if self._closing:
            raise Refused(503, _CLOSING)
        if len(self._waiting) + len(commands) > self._most_waiting:
            raise Refused(429, _BUSY, retry_after_s=_RETRY_AFTER_S)
        answers = Answers(self._cancel)
        for index, command in enumerate(commands):
            self._asked += 1
            numbered = replace(command, request_id=f"{self._name}-{self._asked}")
            if isinstance(numbered, messages.Generate):
                numbered = replace(numbered, lets_others_first=True)
            self._waiting.append(_Asked(numbered, index, answers, _is_slow(numbered)))
        self._advance()
        return answers

    def refuse_all(self) -> None:
        """Take no more requests, and end those that there are."""
        self._closing = True
        lost = [*self._running.values(), *self._waiting]
        self._running.clear()
        self._waiting.clear()
        _fail(lost, _CLOSING)

    def kill(self, sentence: str) -> None:
        """End an engine that does not answer: its requests fail with this sentence, and the next one starts another."""
        if self._process is not None:
            self._last_words = sentence
            self._process.kill()

    async def close(self) -> None:
        """End the engine."""
        self.refuse_all()
        self._starts += 1
        if self._process is not None:
            await asyncio.to_thread(self._process.close)
            self._process = None

    def _advance(self) -> None:
        while len(self._running) < self._most_running:
            crowded = len(self._preparing) >= _MOST_PREPARED
            asked = next((one for one in self._waiting if not (one.slow and crowded)), None)
            if asked is None:
                return
            self._waiting.remove(asked)
            if asked.slow:
                self._preparing.add(asked.command.request_id)
            self._running[asked.command.request_id] = asked
            try:
                process = self._started()
            except OSError as error:
                del self._running[asked.command.request_id]
                self._preparing.discard(asked.command.request_id)
                _fail([asked], _STOPPED.format(how=error.strerror))
            else:
                process.send(asked.command)

    def _started(self) -> EngineHost:
        if self._process is None:
            self._starts += 1
            number, self.ready = self._starts, False
            on_event = partial(self._from_thread, self._receive, number)
            on_exit = partial(self._from_thread, self._notice_exit, number)
            self._process = self._start(on_event, on_exit)
        return self._process

    def _from_thread(self, call: Callable[..., None], *arguments: object) -> None:
        with suppress(RuntimeError):  # the loop has ended, and nobody wants to know
            self._loop.call_soon_threadsafe(call, *arguments)

    def _receive(self, number: int, event: messages.Event) -> None:
        if number != self._starts:
            return
        self.heard += 1
        self.ready = True
        self._on_event(event)
        asked = self._running.get(getattr(event, "request_id", ""))
        if asked is None:
            return
        if not isinstance(event, messages.LoadProgress | messages.ModelLoaded | messages.Notice):  # those come before
            self._preparing.discard(asked.command.request_id)
        if isinstance(event, _ENDS):
            del self._running[asked.command.request_id]
        asked.answers.put(asked.index, event)
        self._advance()

    def _notice_exit(self, number: int, code: int | None) -> None:
        if number != self._starts:
            return
        self._process = None
        lost = list(self._running.values())
        self._running.clear()
        self._preparing.clear()
        how = "it sent something that cannot be read" if code is None else f"exit code {code}"
        how = f"signal {-code}" if code is not None and code < 0 else how
        sentence, self._last_words = self._last_words or _STOPPED.format(how=how), ""
        _fail(lost, sentence)
        self._advance()

    def _cancel(self, answers: Answers) -> None:
        self._waiting = deque(asked for asked in self._waiting if asked.answers is not answers)
        for request_id, asked in self._running.items():
            if asked.answers is answers and self._process is not None:
                self._process.send(messages.Cancel(request_id))


def _is_slow(command: Asked) -> bool:
    request = command.request if isinstance(command, messages.CountTokens) else command
    return request.formed or request.size_bytes > _LONG_BYTES


def _fail(lost: Sequence[_Asked], sentence: str) -> None:
    for asked in lost:
        error = messages.ErrorReport(EngineStopped.__name__, sentence)
        asked.answers.put(asked.index, messages.Failed(asked.command.request_id, error))


async def watch(link: EngineLink, tick_s: float = TICK_S) -> None:
    """End an engine that owes answers and does not go on with any; the next request starts another.

    Args:
        tick_s: Time between two looks.
    """
    silent, heard = 0, -1
    while True:
        await asyncio.sleep(tick_s)
        if link.process_id is None or not link.running:
            silent = 0
            continue
        if not silent or link.heard != heard:
            silent, heard = 1, link.heard
            continue
        silent += 1
        if silent > (PATIENCE_TICKS if link.ready else START_TICKS):
            silent = 0
            link.kill(_HUNG)
