"""The page about this machine: progress and outcome of measuring, and the state of GPU support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from engine.messages import ModePrediction, PlanReport

#: What can be seen: nothing yet; nothing to fetch; something to fetch, of unknown and of known size; on its way; held;
#: here and working; here and switched off; something went wrong.
GpuState = Literal["looking", "none", "offered", "sized", "fetching", "paused", "works", "off", "failed"]
GpuStep = Literal["", "sizing", "receiving", "waiting", "unpacking", "checking", "removing"]


class Stage(Enum):
    """Subject of the running measurement."""

    IDLE = "idle"
    SPEEDS = "speeds"  # the machine's own
    PLAN = "plan"  # which modes can run
    MODES = "modes"


@dataclass(frozen=True)
class Measuring:
    """Progress of measuring."""

    stage: Stage = Stage.IDLE  # subject of the measurement
    what: str = ""  # `Stage.SPEEDS`: the part of the machine that is next
    share: float = 0.0  # share of the stage, 0 to 1
    modes: tuple[str, ...] = ()  # the modes to measure, in order
    mode: str = ""  # the one that runs; empty for none
    modes_done: int = 0
    left_s: float | None = None  # time that the rest will take; None while that is not known
    stopping: bool = False  # True after a stop until the engine notices

    @property
    def running(self) -> bool:
        """True if anything is measured."""
        return self.stage is not Stage.IDLE


def time_left_s(mode_costs: Sequence[float], replies_each: int, done: float, elapsed_s: float) -> float | None:
    """Estimate the time that the rest takes from what was done so far took; None where too little is done to tell.

    Args:
        mode_costs: Expected time of a reply in each mode, in order and in any unit.
        done: Replies done, in all modes; a part of one counts as that.
    """
    total = sum(mode_costs) * replies_each
    past, rest = 0.0, done
    for cost in mode_costs:
        past += cost * min(rest, replies_each)
        rest = max(rest - replies_each, 0.0)
    if done < 1 or past <= 0:
        return None
    return elapsed_s * max(total - past, 0.0) / past


def fastest(plan: PlanReport | None) -> ModePrediction | None:
    """Return the mode that was measured to be fastest, or None if none was."""
    return None if plan is None else next((mode for mode in plan.modes if mode.measured), None)


@dataclass(frozen=True)
class GpuSupport:
    """GPU support on this computer."""

    state: GpuState = "looking"
    sentence: str = ""  # the engine's, on what was found or what went wrong
    title: str = ""  # name of the build, such as ``CUDA 13.0``
    address: str = ""  # source
    size_bytes: int = 0  # to fetch; 0 while it is not known
    unpacked_bytes: int = 0  # on the disk in the end; 0 while it is not known
    disk_bytes: int = 0  # bytes that removing would free
    step: GpuStep = ""  # the running step; nothing else can be asked for meanwhile but to stop it
    done_bytes: int = 0  # bytes done of the step
    total_bytes: int = 0  # total bytes of the step; 0 where there is nothing to count
    # True if it changed since Tenon was started, so that the engine learns of it at its next start
    restart: bool = False

    @property
    def busy(self) -> bool:
        """True if something is being done."""
        return bool(self.step)
