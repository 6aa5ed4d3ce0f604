"""Answer of planning: every mode with its prediction, or the reason why it gains nothing here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.messages import ModePrediction, PlanReport
from engine.planning.load_plan import LoadPlan


@dataclass(frozen=True)
class ModePlan(ModePrediction):
    """One way to run a model.

    Attributes:
        load: How the model is loaded for it, where it can be: also for a mode that gains nothing here.
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
            reason: Why.
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
            }
            for mode in self.modes
        ]
        return {**vars(self), "draft": self.draft or None, "chosen": self.chosen or None, "modes": modes}
