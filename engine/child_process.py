"""First steps of each process that Tenon starts. No Qt, no torch: such processes must start fast."""

from __future__ import annotations

import os
import signal
import threading
from multiprocessing import parent_process


def belong_to_window() -> None:
    """End with the process that started this one, and only with it."""
    # Ctrl+C in a terminal reaches the whole group; the window decides what becomes of its processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, name="tenon-parent-watch", daemon=True).start()


def _end_with_parent() -> None:
    """A window that was killed must not leave an engine and its gigabytes behind, whatever that is doing."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
