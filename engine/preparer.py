"""Processes for work whose cost others decide: each question has bounds of time, of memory and of its answer.

Tokenizing, templates, grammars, JSON and documents run in libraries that hold Python's lock and cannot be stopped. In
a process of their own they stop no reply, and can be ended.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from threading import Lock
from typing import Any

from engine.child_process import LAST_ACTS, belong_to_window, limit_memory, spawning
from engine.errors import Cancelled, UnsupportedModel

_START_S = 120.0
_LOOK_S = 0.05
_END_S = 1.0
_MORE, _DONE, _TOO_MUCH, _FAILED = b"m", b"d", b"b", b"f"

# True in a preparer's process, which does all work itself.
_inside = False


class Beyond(Exception):
    """Error for a question that took more than it may; its process was ended."""


class TookTooLong(Beyond):
    """The question took too much time."""


class TookTooMuch(Beyond):
    """The question took more memory, or was answered with more bytes, than it may."""


class Died(Beyond):
    """The process ended before it answered, as it does if memory is short."""


@dataclass(eq=False)
class Preparer:
    """Process that answers one question at a time; it starts with the first one, and again after it ended.

    Args:
        name: Name of the process.
        time_s: Most processor time for a question.
        memory_bytes: Most memory of the process while it answers.
        kept_bytes: Most memory after an answer; a process that holds more is ended, as not all freed memory goes back.
        idle_s: Seconds after which a process without a question ends; None for one that is always ready.
        nice: Niceness of the process: replies that are being written go before work that takes long.
        clock_s: Most time for a question by the clock, for a process that gets no processor, or waits for a disk.
        answer_bytes: Most bytes of all answers to a question.
        starts_others: Its work starts programs of others, which end with it. Its memory is watched and not limited by
            the system, since they would inherit the limit.
    """

    name: str
    time_s: float
    memory_bytes: int
    kept_bytes: int = 0
    idle_s: float | None = None
    nice: int = 0
    clock_s: float = 120.0
    answer_bytes: int = 1 << 30
    starts_others: bool = False

    def __post_init__(self) -> None:
        self._lock = Lock()
        self._running: tuple[SpawnProcess, Connection] | None = None
        self._is_ready = False
        self._look_again_s = 0.0

    def start(self) -> None:
        """Start the process early; a question starts it in any case."""
        if not _inside:
            with self._lock, suppress(OSError):
                self._start()

    def ask(
        self,
        work: str,
        question: bytes,
        cancelled: Callable[[], bool] = lambda: False,
        time_s: float | None = None,
    ) -> bytes:
        """Return the one answer to a question, as `answers` does."""
        (answer,) = self.answers(work, question, cancelled, time_s)
        return answer

    def answers(
        self,
        work: str,
        question: bytes,
        cancelled: Callable[[], bool] = lambda: False,
        time_s: float | None = None,
    ) -> Generator[bytes, None, None]:
        """Yield the answers of a function to a question.

        Answers are bytes and no objects: a process that was taken over must not reach this one by pickled objects.

        Args:
            work: ``module:function`` that the process calls, from bytes to bytes or to several of them.
            question: Argument of the function.
            cancelled: True once nobody waits for the answer any more.
            time_s: Processor time, for work that may take less than others.

        Raises:
            Beyond: The work took too much time or memory, answered too much, or its process died.
            Cancelled: Nobody waits any more.
            RuntimeError: The work raised an error.
            UnsupportedModel: The system has no room for another process, or does not start it.
        """
        if _inside:
            yield from _results(work, question)
            return
        while not self._lock.acquire(timeout=_LOOK_S):
            if cancelled():
                raise Cancelled("")
        try:
            for again in (True, False):
                process, connection = self._started(cancelled)
                try:
                    connection.send_bytes(work.encode() + b"\0" + question)
                    yield from self._received(process, connection, cancelled, time_s or self.time_s)
                    return
                except (EOFError, OSError) as error:
                    process.join(_END_S)
                    if not again or process.exitcode != 0:
                        raise Died from error
                    self._end()  # it had left because it was idle
        except BaseException:  # an answer that is still to come would be taken for the next one's
            self._end()
            raise
        finally:
            self._lock.release()

    def end(self) -> None:
        """End the process."""
        with self._lock:
            self._end()

    def _start(self) -> tuple[SpawnProcess, Connection]:
        if self._running is None or not self._running[0].is_alive():
            self._end()
            context = spawning()
            ours, theirs = context.Pipe()
            process = context.Process(
                target=_serve,
                args=(theirs, 0 if self.starts_others else self.memory_bytes, self.idle_s, self.nice),
                name=self.name,
                daemon=True,
            )
            process.start()
            theirs.close()
            self._running, self._is_ready = (process, ours), False
        return self._running

    def _started(self, cancelled: Callable[[], bool]) -> tuple[SpawnProcess, Connection]:
        """Return the process after it has imported what it needs: that time does not count for the question."""
        try:
            process, connection = self._start()
            end_s = time.monotonic() + _START_S
            while not self._is_ready:
                if cancelled():
                    raise Cancelled("")
                if time.monotonic() > end_s:
                    raise TimeoutError
                if connection.poll(_LOOK_S):
                    connection.recv_bytes()
                    self._is_ready = True
        except (EOFError, OSError) as error:
            raise UnsupportedModel(
                "The process that prepares requests and files cannot be started ({reason}): close other programs.",
                reason=getattr(error, "strerror", None) or type(error).__name__,
            ) from error
        return process, connection

    def _received(
        self, process: SpawnProcess, connection: Connection, cancelled: Callable[[], bool], time_s: float
    ) -> Iterator[bytes]:
        """Yield the answers while the process stays within its bounds; end it if it holds much after them."""
        import psutil  # here and not above: the processes themselves start without it

        end_s, left, held_bytes = time.monotonic() + self.clock_s, self.answer_bytes, 0
        processor_end_s: float | None = None
        while True:
            there = connection.poll(_LOOK_S)
            if cancelled():
                raise Cancelled("")
            if time.monotonic() > end_s:
                raise TookTooLong
            # One that may keep all that it takes is not looked at with each of its small answers.
            if not there or self.kept_bytes < self.memory_bytes or time.monotonic() > self._look_again_s:
                self._look_again_s = time.monotonic() + _LOOK_S
                # It may have ended, which the pipe tells, or no file can be opened now.
                with suppress(psutil.Error, OSError):
                    watched = psutil.Process(process.pid)
                    used_s = sum(watched.cpu_times()[:2])
                    processor_end_s = processor_end_s or used_s + time_s
                    if used_s > processor_end_s:
                        raise TookTooLong
                    held_bytes = watched.memory_info().rss
                    if held_bytes > self.memory_bytes:
                        raise TookTooMuch
            if not there:
                continue
            try:
                answer = connection.recv_bytes(left + 1)
            except ConnectionError:  # its process ended with a question unread
                raise
            except OSError as error:  # longer than that
                raise TookTooMuch from error
            kind, answer = answer[:1], answer[1:]
            if kind == _DONE:
                if held_bytes > self.kept_bytes:
                    self._end()
                return
            if kind == _TOO_MUCH:
                raise TookTooMuch
            if kind == _FAILED:
                raise RuntimeError(answer.decode())
            left -= len(answer)
            yield answer

    def _end(self) -> None:
        if self._running is not None:
            process, connection = self._running
            # The number of one that has ended may be another program's by now.
            others = _started_by(process.pid) if self.starts_others and process.is_alive() else []
            process.kill()
            for other in others:
                with suppress(Exception):  # it has ended by itself, or is not ours to end
                    other.kill()
            process.join(_END_S)  # a system that does not let go of it must not hold the one who asks
            connection.close()
            self._running = None


#: For what is small, and for all else: a small question never waits behind a large one.
QUICK = Preparer("tenon-prepare", 5.0, 512 << 20, 256 << 20)
# With a vocabulary of 262,144 tokens the second one holds 210 MiB, a few more after each long text, and 126 after a
# question about a file that does not fit (`engine/text/meaning.py`).
SLOW = Preparer("tenon-prepare-large", 20.0, 1536 << 20, 448 << 20, idle_s=60.0, nice=5)


def _started_by(process_id: int | None) -> list[Any]:
    """Return the processes that a process has started, and those that they have."""
    import psutil

    with suppress(psutil.Error, OSError):
        return [*psutil.Process(process_id).children(recursive=True)]
    return []


def _serve(connection: Connection, memory_bytes: int, idle_s: float | None, nice: int) -> None:
    """Answer questions until the pipe ends: the name of a function comes first, then its argument.

    The first message, which is empty, says that the process has started.
    """
    global _inside
    _inside = True
    belong_to_window()
    # Products of matrices take one thread: the others write replies.
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"))
    with suppress(OSError, AttributeError):
        os.nice(nice)  # Windows has no such call
    with suppress(EOFError, OSError):
        connection.send_bytes(b"")
        if memory_bytes:
            limit_memory(memory_bytes)
        while connection.poll(idle_s):
            work, _, question = connection.recv_bytes().partition(b"\0")
            answer, end = b"", _DONE
            try:
                for answer in _results(work.decode(), question):
                    connection.send_bytes(_MORE + answer)
            except MemoryError:
                end = _TOO_MUCH
            except Exception as error:  # a mistake of Tenon's, or a damaged file: its text may quote a chat
                end = _FAILED + work + f": {type(error).__name__}".encode()
            del question, answer
            connection.send_bytes(end)
    for act in LAST_ACTS:
        act()


def _results(work: str, question: bytes) -> Iterable[bytes]:
    module, _, name = work.partition(":")
    found: bytes | Iterable[bytes] = getattr(import_module(module), name)(question)
    return (found,) if isinstance(found, bytes) else found
