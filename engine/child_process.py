"""First steps of the processes that Tenon starts. No Qt, no torch: such processes must start fast."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.context import SpawnContext

from engine.terminal import set_up_streams

#: Calls before a process ends, by itself or because its parent has: for programs that it started, and that would go on.
LAST_ACTS: list[Callable[[], object]] = []


@cache
def spawning() -> SpawnContext:
    """Return Python's way to start a fresh process, without the process that tracks semaphores.

    Tenon shares none, and that process takes 13 MB. A semaphore that is made here all the same starts it; one that is
    made in a process started so is not tracked, and what that process leaves behind when it is killed stays.
    """
    if sys.platform != "win32":
        nowhere = os.open(os.devnull, os.O_WRONLY)
        resource_tracker.getfd = lambda: nowhere
    return get_context("spawn")


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
        for act in LAST_ACTS:
            act()
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
