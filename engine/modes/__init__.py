"""Modes: each a recipe of parts for the one loop, one file per mode. ``MODES`` is the table of them."""

from engine.modes import dovetail, layer_offload, llmcad, lookup, offload, plain
from engine.modes.mode import Mode

# Of equal predictions the earlier one is taken.
MODES: dict[str, Mode] = {
    one.MODE.name: one.MODE for one in (plain, lookup, llmcad, dovetail, offload, layer_offload)
}

__all__ = ["MODES", "Mode"]
