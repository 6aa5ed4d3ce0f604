"""Watch over the engine: one that owes answers, says nothing and does not compute either is ended, and starts again."""

from __future__ import annotations

import asyncio

from engine.child_process import processor_seconds
from engine.server.engine_link import EngineLink

# Silence is counted in ticks and not by a clock: while the computer sleeps, or this process stands still, none come.
TICK_S = 5.0
PATIENCE_TICKS = 12
# A pass of a large model says nothing for minutes, and takes a processor's time meanwhile, as reading its file does.
_LEAST_CPU_S = 0.1
_HUNG = "The engine neither computed nor answered, so it was ended: ask again, and it starts anew."


async def watch(link: EngineLink, tick_s: float = TICK_S) -> None:
    """Look at the engine until this is cancelled.

    Args:
        link: To the engine.
        tick_s: Time between two looks.
    """
    silent, heard, before_s = 0, -1, 0.0
    while True:
        await asyncio.sleep(tick_s)
        process_id = link.process_id
        if process_id is None or not link.running:
            silent = 0
            continue
        cpu_s = processor_seconds(process_id)
        if not silent or link.heard != heard or cpu_s - before_s >= _LEAST_CPU_S:
            silent, heard, before_s = 1, link.heard, cpu_s
            continue
        silent += 1
        if silent > PATIENCE_TICKS:
            silent = 0
            link.kill(_HUNG)
