"""Processes that Tenon starts: their first steps, and answers of one that is bounded.

No Qt, no torch: such processes must start fast.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from typing import Any

from engine.errors import Cancelled
from engine.terminal import set_up_streams

_LOOK_S = 0.05
_END_S = 1.0
_OUT_OF_MEMORY = 3  # exit code


@dataclass(frozen=True)
class Bounds:
    """Limits of a process: seconds, its memory, and the length of all its answers."""

    time_s: float
    memory_bytes: int
    answer_bytes: int


class TookTooLong(Exception):
    """The time is up."""


class TookTooMuch(Exception):
    """It took more memory, or answered more, than it may."""


class Died(Exception):
    """It ended before it was done, or did not start."""


def answers(
    work: Callable[..., Iterable[bytes]],
    arguments: tuple[Any, ...],
    bounds: Bounds,
    cancelled: Callable[[], bool] = lambda: False,
) -> Generator[bytes, None, None]:
    """Yield what some work yields in a process of its own, which is killed where it takes too much of anything.

    They are bytes and no objects: who takes over that process must not reach this one by what it unpickles.

    Args:
        work: A function of a module; none of its answers is empty.
        arguments: Its arguments, picklable.
        bounds: Its limits.
        cancelled: True once nobody waits for it any more.

    Raises:
        TookTooLong: It exceeded its time.
        TookTooMuch: It exceeded its memory, or the length of its answers.
        Died: It ended early; whatever it raised counts as that.
        Cancelled: Nobody waits any more.
    """
    import psutil  # here and not above: the processes themselves start without it

    context = get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(work, arguments, bounds, theirs), daemon=True)
    end, left = time.monotonic() + bounds.time_s, bounds.answer_bytes
    try:
        process.start()
        theirs.close()
        watched = psutil.Process(process.pid)
        while True:
            there = ours.poll(_LOOK_S)
            if cancelled():
                raise Cancelled("")
            if time.monotonic() > end:
                raise TookTooLong
            with suppress(psutil.Error):  # it has ended, and its last answers, or their end, are in the pipe
                if watched.memory_info().rss > bounds.memory_bytes:
                    raise TookTooMuch
            if not there:
                continue
            try:
                answer = ours.recv_bytes(left)
            except EOFError:
                process.join(_END_S)
                raise (TookTooMuch if process.exitcode == _OUT_OF_MEMORY else Died) from None
            except OSError as error:  # longer than that
                raise TookTooMuch from error
            if not answer:
                return
            left -= len(answer)
            yield answer
    except (OSError, psutil.Error) as error:
        raise Died from error
    finally:
        theirs.close()
        if process.pid is not None:
            process.kill()
            process.join(_END_S)  # a system that does not let go of it must not hold the one who asks
        ours.close()


def _answer(
    work: Callable[..., Iterable[bytes]], arguments: tuple[Any, ...], bounds: Bounds, connection: Connection
) -> None:
    belong_to_window()
    limit_memory(bounds.memory_bytes)
    try:
        for answer in work(*arguments):
            connection.send_bytes(answer)
        connection.send_bytes(b"")
    except MemoryError:
        os._exit(_OUT_OF_MEMORY)
    except Exception:  # whatever a file from outside makes of a library
        os._exit(1)


def belong_to_window() -> None:
    """End with the process that started this one, and only with it."""
    set_up_streams()
    # Ctrl+C in a terminal reaches the whole group; the window decides what becomes of its processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, name="tenon-parent-watch", daemon=True).start()


def _end_with_parent() -> None:
    """End with the parent: a killed window must not leave an engine and its gigabytes, whatever that is doing."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def limit_memory(size_bytes: int) -> None:
    """Limit what this process may take to twice as much, where the system can; who waits for it looks for himself."""
    try:
        import resource
    except ImportError:  # Windows
        return
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (2 * size_bytes, 2 * size_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
