"""Progress and outcome of measuring, for the page about this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from engine.messages import BenchmarkRow


class Stage(Enum):
    """Subject of the running measurement."""

    IDLE = "idle"
    SPEEDS = "speeds"  # the machine's own
    PLAN = "plan"  # which modes can run
    MODES = "modes"


@dataclass(frozen=True)
class Measuring:
    """Progress of measuring.

    Attributes:
        stage: Subject of the measurement.
        what: `Stage.SPEEDS`: the part of the machine that is next.
        share: Share of the stage, 0 to 1.
        modes: The modes to measure, in order.
        mode: The one that runs; empty for none.
        modes_done: Modes that are done.
        left_s: Time that the rest will take; None while that is not known.
        stopping: True after a stop until the engine notices.
    """

    stage: Stage = Stage.IDLE
    what: str = ""
    share: float = 0.0
    modes: tuple[str, ...] = ()
    mode: str = ""
    modes_done: int = 0
    left_s: float | None = None
    stopping: bool = False

    @property
    def running(self) -> bool:
        """True if anything is measured."""
        return self.stage is not Stage.IDLE


def time_left_s(
    mode_costs: Sequence[float], replies_each: int, done: float, elapsed_s: float
) -> float | None:
    """Time that the rest takes, from what was done so far took.

    Args:
        mode_costs: Expected time of a reply in each mode, in order and in any unit.
        replies_each: Replies of a mode.
        done: Replies done, in all modes; a part of one counts as that.
        elapsed_s: Since the first began.

    Returns:
        None where too little is done to tell.
    """
    total = sum(mode_costs) * replies_each
    past, rest = 0.0, done
    for cost in mode_costs:
        past += cost * min(rest, replies_each)
        rest = max(rest - replies_each, 0.0)
    if done < 1 or past <= 0:
        return None
    return elapsed_s * max(total - past, 0.0) / past


def fastest(rows: Sequence[BenchmarkRow]) -> BenchmarkRow | None:
    """Return the mode that was measured to be fastest, or None if none was."""
    known = [row for row in rows if row.tokens_per_second is not None]
    return max(known, key=lambda row: row.tokens_per_second or 0.0, default=None)
