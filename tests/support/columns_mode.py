"""Plain decoding with divided columns: a mode for a placement that none of the engine's own modes names."""

from __future__ import annotations

from dataclasses import replace

from engine.modes import offload

COLUMNS = replace(offload.MODE, name="columns", placements=("columns", "resident"))
