"""A slower disk than the machine's: reads past the page cache end when such a disk would have brought their bytes."""

from __future__ import annotations

import os
import threading
import time
from multiprocessing.connection import Connection
from typing import Any

from engine.hub.installed import cache_folder
from engine.planning.hardware import measure_report
from engine.process import serve
from engine.weights.direct_reader import DirectReader

# What the disk of the slowest machine that this runs on brings.
_OWN_GB_PER_S = 2.0


def slow_down(gb_per_s: float) -> None:
    """Hold all direct reads of this process together to so many GB/s.

    Speeds above `_OWN_GB_PER_S` come from the page cache, whose copies take processor time that a disk's do not.
    """
    read, turn, free_s = DirectReader._read_block, threading.Lock(), 0.0

    def slow(reader: DirectReader, file: Any, block: Any) -> None:
        nonlocal free_s
        with turn:
            free_s = ends_s = max(free_s, time.perf_counter()) + block.needed_bytes / (gb_per_s * 1e9)
        if gb_per_s <= _OWN_GB_PER_S:
            read(reader, file, block)
        else:
            with block.path.open("rb") as cached:
                cached.seek(block.offset)
                cached.readinto(block.target[: block.needed_bytes])
        time.sleep(max(0.0, ends_s - time.perf_counter()))

    DirectReader._read_block = slow  # type: ignore[method-assign]


def serve_from(gb_per_s: float, connection: Connection) -> None:
    """Serve an engine whose disk has this speed; what is measured of it is kept apart."""
    os.environ["TENON_CACHE_DIR"] = str(cache_folder() / f"disk-{gb_per_s:g}")
    slow_down(gb_per_s)
    measure_report()
    serve(connection)
