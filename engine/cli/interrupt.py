"""Ctrl+C as an order to stop, for subcommands that end in order."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType


def on_interrupt(action: Callable[[], None]) -> Callable[[int, FrameType | None], object] | int | None:
    """Let Ctrl+C stop the reply in order, instead of tearing the program down."""

    def handle(_signal: int, _frame: FrameType | None) -> None:
        action()

    return signal.signal(signal.SIGINT, handle)
