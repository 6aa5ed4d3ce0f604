"""Processes for work whose cost a request decides: each question has a bound of time and of memory.

Tokenizing, templates, grammars and JSON run in libraries that hold Python's lock and cannot be stopped, so they run
where they silence nobody and can be ended.
"""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from threading import Lock

import psutil

from engine.child_process import belong_to_window, limit_memory
from engine.errors import Cancelled, UnsupportedModel

#: Of the clock, for a process that gets no processor.
CLOCK_S = 120.0
_LOOK_S = 0.05
_LONGEST_ANSWER_BYTES = 1 << 30
_DONE, _BEYOND, _FAILED = b"d", b"b", b"f"

# True in a preparer's process, which does all work itself.
_inside = False


class Beyond(Exception):
    """A question took more time or memory than it may, and its process was ended."""


class Preparer:
    """A process that answers one question at a time, started with the first one and again after it ended.

    Args:
        name: Of the process.
        time_s: Processor's time for a question.
        memory_bytes: Of the process while it answers.
        kept_bytes: A process that holds more after an answer is ended: not all freed memory goes back.
        idle_s: A process without a question for so long ends, and replies that are being written go before its work;
            None for one that is always ready.
    """

    def __init__(
        self, name: str, time_s: float, memory_bytes: int, kept_bytes: int, idle_s: float | None = None
    ) -> None:
        self.time_s = time_s
        self.memory_bytes = memory_bytes
        self._name = name
        self._kept_bytes = kept_bytes
        self._idle_s = idle_s
        self._lock = Lock()
        self._running: tuple[SpawnProcess, Connection] | None = None
        self._is_ready = False
        atexit.register(self.end)

    def start(self) -> None:
        """Start the process in good time; `ask` starts it in any case."""
        if not _inside:
            with self._lock, suppress(OSError):
                self._started()

    def ask(
        self,
        work: str,
        question: bytes,
        cancelled: Callable[[], bool] = lambda: False,
        time_s: float | None = None,
    ) -> bytes:
        """Return the answer of a function of bytes to bytes, which runs in the process.

        Args:
            work: ``module:function``, called in the process; the function answers whatever is wrong with the question.
            question: For it.
            cancelled: True once nobody waits for the answer any more.
            time_s: Of the processor, for work that may take less than others.

        Raises:
            Beyond: It took too much time or memory.
            Cancelled: Nobody waits any more.
            UnsupportedModel: The system has no room for another process, or does not let it start.
        """
        if _inside:
            return _function(work)(question)
        while not self._lock.acquire(timeout=_LOOK_S):
            if cancelled():
                raise Cancelled("")
        try:
            for _ in range(2):  # a process that ended because it was idle is started again
                answer = self._asked(work, question, cancelled, time_s or self.time_s)
                if answer is not None:
                    break
            if answer is None or answer[:1] == _BEYOND:
                raise Beyond
            if answer[:1] == _FAILED:
                raise RuntimeError(answer[1:].decode())
            return answer[1:]
        finally:
            self._lock.release()

    def _asked(
        self, work: str, question: bytes, cancelled: Callable[[], bool], time_s: float
    ) -> bytes | None:
        """Return the answer of the process, or None if it had left before it was asked."""
        try:
            process, connection = self._started()
            self._await_start(connection)
        except (EOFError, OSError) as error:
            self._end()
            raise UnsupportedModel(
                "The process that prepares requests cannot be started ({reason}): close other programs.",
                reason=getattr(error, "strerror", None) or type(error).__name__,
            ) from error
        try:
            connection.send_bytes(work.encode() + b"\0" + question)
            watched = psutil.Process(process.pid)
            if self._has_answer(connection, watched, cancelled, time_s):
                answer = connection.recv_bytes(_LONGEST_ANSWER_BYTES)
                if watched.memory_info().rss > self._kept_bytes:
                    self._end()
                return answer
        except (EOFError, OSError, psutil.Error):  # it died, as one that is short of memory does
            process.join(_LOOK_S)
            idle = process.exitcode == 0
            self._end()
            return None if idle else _BEYOND
        except BaseException:  # its answer would be taken for the next one's
            self._end()
            raise
        self._end()
        return _BEYOND

    def end(self) -> None:
        """End the process."""
        with self._lock:
            self._end()

    def _started(self) -> tuple[SpawnProcess, Connection]:
        if self._running is None or not self._running[0].is_alive():
            self._end()
            context = get_context("spawn")
            ours, theirs = context.Pipe()
            process = context.Process(
                target=_serve, args=(theirs, self.memory_bytes, self._idle_s), name=self._name, daemon=True
            )
            process.start()
            theirs.close()
            self._running, self._is_ready = (process, ours), False
        return self._running

    def _await_start(self, connection: Connection) -> None:
        """Wait until the process has imported what it needs: none of that time is the question's."""
        if not self._is_ready:
            if not connection.poll(CLOCK_S):
                raise TimeoutError
            connection.recv_bytes()
            self._is_ready = True

    def _end(self) -> None:
        if self._running is not None:
            process, connection = self._running
            process.kill()
            process.join()
            connection.close()
            self._running = None

    def _has_answer(
        self, connection: Connection, process: psutil.Process, cancelled: Callable[[], bool], time_s: float
    ) -> bool:
        """Wait for an answer as long as the process stays within its bounds."""
        end, before_s = time.monotonic() + CLOCK_S, _cpu_s(process)
        while not connection.poll(_LOOK_S):
            if cancelled():
                raise Cancelled("")
            beyond = _cpu_s(process) - before_s > time_s or process.memory_info().rss > self.memory_bytes
            if beyond or time.monotonic() > end:
                return False
        return True


#: For what is small, and for all else: a small question never waits behind a large one.
QUICK = Preparer("tenon-prepare", 5.0, 512 << 20, 256 << 20)
SLOW = Preparer("tenon-prepare-large", 20.0, 1536 << 20, 512 << 20, idle_s=60.0)


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _serve(connection: Connection, memory_bytes: int, idle_s: float | None) -> None:
    """Answer questions until the pipe ends: the name of a function comes first, then what it is given.

    The first message, which is empty, says that the process has started.
    """
    global _inside
    _inside = True
    belong_to_window()
    limit_memory(memory_bytes)
    if idle_s is not None:
        with suppress(OSError, AttributeError):
            os.nice(5)  # Windows has no such call
    with suppress(EOFError, OSError):
        connection.send_bytes(b"")
        while connection.poll(idle_s):
            work, _, question = connection.recv_bytes().partition(b"\0")
            try:
                answer = _DONE + _function(work.decode())(question)
            except MemoryError:
                answer = _BEYOND
            except Exception as error:  # a mistake of Tenon's: its text may quote a chat
                answer = _FAILED + work + f": {type(error).__name__}".encode()
            connection.send_bytes(answer)
            del question, answer


def _function(work: str) -> Callable[[bytes], bytes]:
    module, _, name = work.partition(":")
    found: Callable[[bytes], bytes] = getattr(import_module(module), name)
    return found
