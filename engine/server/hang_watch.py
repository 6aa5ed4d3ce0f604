"""Watch over the engine: one that owes answers and does not go on with any is ended, and starts again."""

from __future__ import annotations

import asyncio

from engine.server.engine_link import EngineLink

# Silence is counted in ticks and not by a clock: while the computer sleeps, or this process stands still, none come.
# Layers that are computed and bytes that are read are told of (`Working`): a processor's time alone may be a loop.
TICK_S = 5.0
PATIENCE_TICKS = 12
# Importing its libraries, the engine waits for a child that tries a GPU, for three minutes at most.
START_TICKS = 48
_HUNG = "The engine neither computed nor answered, so it was ended: ask again, and it starts anew."


async def watch(link: EngineLink, tick_s: float = TICK_S) -> None:
    """Look at the engine until this is cancelled.

    Args:
        link: To the engine.
        tick_s: Time between two looks.
    """
    silent, heard = 0, -1
    while True:
        await asyncio.sleep(tick_s)
        if link.process_id is None or not link.running:
            silent = 0
            continue
        if not silent or link.heard != heard:
            silent, heard = 1, link.heard
            continue
        silent += 1
        if silent > (PATIENCE_TICKS if link.ready else START_TICKS):
            silent = 0
            link.kill(_HUNG)
