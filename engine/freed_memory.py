"""Memory that was freed, back to the system."""

from __future__ import annotations

import ctypes
import sys


def give_back_memory() -> None:
    """Hand freed memory back to the system if the C library is glibc, which keeps what lies between blocks in use."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
