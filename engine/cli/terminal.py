"""The terminal that a subcommand runs in: its last line, and Ctrl+C."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from engine.terminal import Steering

if TYPE_CHECKING:
    from engine.hub.transfer import StopSignal

Outcome = TypeVar("Outcome")

_LOOK_EVERY_S = 0.1


def show_status(text: str = "") -> None:
    """Rewrite the last line of a terminal; nothing elsewhere."""
    if sys.stderr.isatty():
        sys.stderr.write(Steering("\r\033[K"))
        print(text, end="", file=sys.stderr, flush=True)


@contextmanager
def on_interrupt(action: Callable[[], object]) -> Iterator[None]:
    """Let Ctrl+C do this, instead of tearing the program down."""
    previous = signal.signal(signal.SIGINT, lambda number, frame: action())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def stopped_by_interrupt(work: Callable[[], Outcome], stop: StopSignal) -> Outcome:
    """Do something in a thread, so that Ctrl+C is heard at once: it sets ``stop``. Raises what the work raises."""
    pressed: list[bool] = []  # a signal's handler takes no lock
    ended: list[Outcome] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            ended.append(work())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="tenon-work")
    with on_interrupt(lambda: pressed.append(True)):
        thread.start()
        while thread.is_alive():
            thread.join(_LOOK_EVERY_S)
            if pressed:
                stop.set()
    if failed:
        raise failed[0]
    return ended[0]
