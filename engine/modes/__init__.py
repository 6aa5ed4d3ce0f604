"""Modes: each a recipe of parts for the one loop, one file per mode. ``MODES`` is the table of them."""

from engine.modes.dovetail import DOVETAIL
from engine.modes.llmcad import LLMCAD
from engine.modes.lookup import LOOKUP
from engine.modes.mode import Mode
from engine.modes.plain import PLAIN

MODES: dict[str, Mode] = {mode.name: mode for mode in (PLAIN, LOOKUP, DOVETAIL, LLMCAD)}

__all__ = ["MODES", "Mode"]
