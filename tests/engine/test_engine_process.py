"""The process of an engine: how its end is told."""

from __future__ import annotations

import atexit
import queue
import sys
import time
from multiprocessing.connection import Connection

from engine.engine_process import EngineProcess


def fail_slowly(connection: Connection) -> None:
    """End as an engine with large libraries does: the pipe closes first, and the process ends later."""
    atexit.register(time.sleep, 1.0)
    connection.close()
    sys.exit(3)


def test_a_process_that_takes_its_time_to_end_is_not_called_killed() -> None:
    codes: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    EngineProcess(fail_slowly, lambda event: None, codes.put)
    assert codes.get(timeout=100) == 3
