"""Text that goes to a terminal or a pipe."""

from __future__ import annotations

import sys


def write_utf8() -> None:
    """Let standard output and error take any character, whatever encoding the terminal or the pipe claims."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
