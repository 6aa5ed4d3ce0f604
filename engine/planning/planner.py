"""Which mode and which precision to run, and why."""

from __future__ import annotations

from engine.errors import InvalidOption
from engine.messages import Plan
from engine.modes import MODES

AUTO = "auto"

_REASONS = {
    "plain": "Plain decoding was chosen: one token for each pass.",
    "lookup": "Prompt lookup was chosen.",
}


def choose_plan(mode: str) -> Plan:
    """The mode to run.

    Args:
        mode: A name from `MODES`, or ``auto``.

    Raises:
        InvalidOption: there is no such mode.
    """
    if mode == AUTO:
        # Lookup needs no second model, and its schedule drafts nothing where drafts do not pay for themselves.
        return Plan(
            "lookup", "Auto: lookup needs no second model, and drafts only while that is faster than plain."
        )
    if mode not in MODES:
        raise InvalidOption(f"There is no mode {mode!r}: choose {AUTO}, {' or '.join(MODES)}.")
    return Plan(mode, _REASONS[mode])
