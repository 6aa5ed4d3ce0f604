"""Every mode with what it is expected to do, did, or cannot do: the rows of the inspector's plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from app.chat.choices import Choice
from engine.messages import PlanReport


@dataclass(frozen=True)
class PlanRow:
    """A mode.

    Attributes:
        name: ``--mode`` name.
        title: Name in the window.
        predicted: Tokens per second that were predicted, None where nothing was.
        measured: Tokens per second that its last reply had, None before there is one.
        reason: The reason why it cannot run; empty where it can.
    """

    name: str
    title: str
    predicted: float | None = None
    measured: float | None = None
    reason: str = ""

    @property
    def expected(self) -> float | None:
        """Measured speed, else the predicted one."""
        return self.predicted if self.measured is None else self.measured


def predicted_speeds(plan: PlanReport | None) -> dict[str, float]:
    """Tokens per second by mode, as far as a plan predicts them."""
    modes = () if plan is None else plan.modes
    return {mode.mode: mode.tokens_per_second for mode in modes if mode.tokens_per_second is not None}


def with_plan(choices: Iterable[Choice], plan: PlanReport | None) -> list[Choice]:
    """Modes to choose from, with what a plan says of them: why one cannot run, and what ``auto`` takes."""
    if plan is None:
        return list(choices)
    refusals = {mode.mode: mode.refusal for mode in plan.modes}
    return [
        replace(choice, detail=plan.reason)
        if choice.key == "auto"
        else replace(choice, problem=choice.problem or refusals.get(choice.key, ""))
        for choice in choices
    ]


def plan_rows(
    choices: Iterable[Choice], predicted: Mapping[str, float], measured: Mapping[str, float]
) -> list[PlanRow]:
    """Return the rows: the fastest first, then modes without a prediction, then those that cannot run.

    Both mappings have tokens per second by mode: as predicted, and as replies of this model showed it.
    """
    rows = [
        PlanRow(choice.key, choice.title, predicted.get(choice.key), measured.get(choice.key), choice.problem)
        for choice in choices
        if choice.key != "auto"
    ]
    return sorted(rows, key=lambda row: (bool(row.reason), -(row.expected or 0.0)))
