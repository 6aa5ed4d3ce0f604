"""Answer of planning: every mode with its prediction, or the reason why it gains nothing here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.messages import ModePrediction, PlanReport
from engine.planning.load_plan import LoadPlan
from engine.sentences import figure, say


@dataclass(frozen=True)
class ModePlan(ModePrediction):
    """One way to run a model.

    Attributes:
        load: The load for it, where there can be one: also for a mode that gains nothing here.
    """

    load: LoadPlan | None = None

    @property
    def message(self) -> ModePrediction:
        """The prediction alone, as the window is told of it."""
        return ModePrediction(**{name: value for name, value in vars(self).items() if name != "load"})


@dataclass(frozen=True)
class MachinePlan(PlanReport):
    """All modes for a model on a machine, with the loads that they were planned with."""

    modes: tuple[ModePlan, ...]

    def mode(self, name: str) -> ModePlan:
        """One of the modes by its name; KeyError where there is none."""
        for plan in self.modes:
            if plan.mode == name:
                return plan
        raise KeyError(name)

    def message(self, chosen: str, reason: str) -> PlanReport:
        """The predictions alone, as the window is told of them.

        Args:
            chosen: The mode that ``auto`` takes; empty where none can run.
            reason: One sentence.
        """
        told = {"modes": tuple(mode.message for mode in self.modes), "chosen": chosen, "reason": reason}
        return PlanReport(**{**vars(self), **told})

    def as_json(self) -> dict[str, Any]:
        """Plain types, as ``tenon plan --json`` prints them: null for what there is not."""
        modes = [
            {
                **vars(mode.message),
                "refusal": mode.refusal or None,
                "memory_bytes": mode.memory_bytes or None,
                "drafts": list(mode.drafts),
                "widths": [vars(width) for width in mode.widths],
            }
            for mode in self.modes
        ]
        return {**vars(self), "chosen": self.chosen or None, "modes": modes}


def reason(chosen: ModePlan | None, plain: ModePlan) -> str:
    """Reason why ``auto`` takes a mode."""
    if chosen is None:
        return plain.refusal or say("No mode that this version has can run this model here.")
    rate = chosen.tokens_per_second or 0.0
    speed = f"{figure(rate, '.0f' if rate >= 100 else '.2g')} tok/s"
    if chosen.mode == "plain":
        return say(
            "Auto: plain, predicted at {speed}; no other mode is predicted to be faster here.", speed=speed
        )
    if plain.tokens_per_second is None:
        return say(
            "Auto: {mode}, predicted at {speed} ({summary}).",
            mode=say(chosen.mode),
            speed=speed,
            summary=chosen.summary,
        )
    times = figure(rate / plain.tokens_per_second, ".1f")
    as_fast = times == figure(1.0, ".1f")
    return say(
        "Auto: {mode}, predicted at {speed}, {times} ({summary}).",
        mode=say(chosen.mode),
        speed=speed,
        times=say("as fast as plain") if as_fast else say("{times} times plain", times=times),
        summary=chosen.summary,
    )
