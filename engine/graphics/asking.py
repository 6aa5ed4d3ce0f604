"""The question to the drivers which chips there are and how fast, in a process that may hang or crash."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.process import _children  # type: ignore[attr-defined]  # whom Python waits for at its end

import psutil

from engine.child_process import belong_to_window, spawning
from engine.graphics.adapters import Chip, find_adapters, why_none
from engine.graphics.known import ENDED, FAILED, SILENT, SWITCH, Known, keep_known
from engine.graphics.speed import measure_chip

# From a slow disk torch alone takes a while.
_LONGEST_S = 60.0
_LOOK_S, _END_S = 0.1, 5.0
_MOST_BYTES = 256 << 20


def ask_drivers(check: Callable[[], None], answer: Callable[[Connection], None] | None = None) -> None:
    """Ask, and keep the answer; that takes some seconds. Nobody is asked where the environment says so.

    Args:
        check: Called often; raises to cancel.
        answer: What the process does; by default it asks.
    """
    if os.environ.get(SWITCH) == "0":
        return
    known, (ours, theirs) = Known(), spawning().Pipe(duplex=False)
    process = spawning().Process(target=answer or _answer, args=(theirs,), name="tenon-chips", daemon=True)
    process.start()
    theirs.close()
    looks = 0
    try:
        # A machine that sleeps meanwhile takes no looks.
        while looks < _LONGEST_S / _LOOK_S:
            check()
            if not ours.poll(_LOOK_S):
                looks += 1
                continue
            known = ours.recv()
        known = replace(known, speeds={}, problem=SILENT, figures={"seconds": f"{_LONGEST_S:.0f}"})
    except (EOFError, OSError):  # the second one from Windows, whose pipes cannot be looked into once they end
        process.join(_END_S)
        if process.exitcode:
            known = replace(known, speeds={}, problem=ENDED, figures={"code": str(process.exitcode)})
    finally:
        process.kill()
        process.join(_END_S)  # a driver that hangs in the system's kernel holds it longer
        _children.discard(process)
        ours.close()
    keep_known(known)


def _answer(connection: Connection) -> None:
    """Send what is known, once more after each chip."""
    belong_to_window()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # where drivers write warnings
    chips = tuple(find_adapters())
    known = Known(chips=chips, problem="" if chips else why_none())
    most_bytes = min(_MOST_BYTES, int(psutil.virtual_memory().available) // 8)
    connection.send(known)
    for adapter in known.chips:
        try:
            speed = measure_chip(Chip(adapter), most_bytes, lambda: None)
            known = replace(known, speeds={**known.speeds, adapter.device: speed})
        except RuntimeError as error:
            known = replace(known, problem=FAILED, figures={"name": adapter.name, "reason": str(error)})
        connection.send(known)
