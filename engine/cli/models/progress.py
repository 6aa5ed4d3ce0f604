"""One line on standard error that says how far something is."""

from __future__ import annotations

import sys
import time

from engine.hub.transfer import TransferRate
from engine.sizes import readable
from engine.terminal import Steering

_EVERY_S = 0.2
_EVERY_SHARE = 0.1


class ProgressLine:
    """Rewritten in place on a terminal; elsewhere a line for every tenth.

    Args:
        label: Its subject.
        silent: Say nothing.
    """

    def __init__(self, label: str, silent: bool = False) -> None:
        self._label = label
        self._silent = silent
        self._terminal = sys.stderr.isatty()
        self._rate = TransferRate()
        self._last_s = float("-inf")
        self._tenths = 0
        self._width = 0

    def show(self, done_bytes: int, total_bytes: int, message: str | None = None) -> None:
        """Say how far it is, not too often, and what it waits for."""
        now_s = time.monotonic()
        self._rate.note(now_s, done_bytes)
        if self._silent:
            return
        if not self._terminal:
            tenths = int(done_bytes / max(1, total_bytes) / _EVERY_SHARE)
            if message is not None or tenths > self._tenths:
                self._tenths = tenths
                print(self._text(done_bytes, total_bytes, message), file=sys.stderr, flush=True)
        elif message is not None or now_s - self._last_s >= _EVERY_S or done_bytes == total_bytes:
            self._last_s = now_s
            text = self._text(done_bytes, total_bytes, message)
            sys.stderr.write(Steering("\r"))
            print(f"{text:<{self._width}}", end="", file=sys.stderr, flush=True)
            self._width = len(text)

    def end(self) -> None:
        """Leave the line."""
        if self._terminal and not self._silent and self._width:
            print(file=sys.stderr)

    def _text(self, done_bytes: int, total_bytes: int, message: str | None) -> str:
        share = done_bytes / max(1, total_bytes)
        parts = [f"{self._label}  {share:4.0%}  {readable(done_bytes)} of {readable(total_bytes)}"]
        speed = self._rate.bytes_per_s()
        left_s = self._rate.seconds_left(total_bytes - done_bytes)
        if speed and message is None:
            parts.append(f"{readable(int(speed))}/s")
        if left_s is not None and message is None and done_bytes < total_bytes:
            parts.append(f"{_duration(left_s)} left")
        if message is not None:
            parts.append(message)
        return "  ".join(parts)


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
