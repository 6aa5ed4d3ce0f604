"""A command that waits for its answer, and those who are told of what comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from engine.messages import (
    CheckDrafts,
    CountTokens,
    DraftChecked,
    ErrorReport,
    Event,
    Failed,
    FindPairs,
    Finished,
    Generate,
    Load,
    MachineReported,
    MakePlan,
    ModelLoaded,
    ModelPredicted,
    PairsFound,
    PlanMade,
    PredictModels,
    ReportMachine,
    Request,
    TokensCounted,
)

_ANSWERS: dict[type, type] = {
    Load: ModelLoaded,
    Generate: Finished,
    CountTokens: TokensCounted,
    ReportMachine: MachineReported,
    MakePlan: PlanMade,
    CheckDrafts: DraftChecked,
    PredictModels: ModelPredicted,
    FindPairs: PairsFound,
}

Told = TypeVar("Told")


class Question:
    """One command on its way. Each of its methods gives the question, so that they can be written in a row.

    A question ends with its answer (of drafts and models there is one for each that was asked about), with an error,
    with the engine, or by `drop`.

    Args:
        command: With its request's number.
        give_up: Tells the engine to give it up, and whether it is to be killed where it does not.

    Attributes:
        command: The same.
        open: True while something is to come.
    """

    def __init__(self, command: Request, give_up: Callable[[Question, bool], None]) -> None:
        self.command = command
        self._answer = _ANSWERS[type(command)]
        self._expected = _answers_expected(command)
        self._give_up = give_up
        self._told: list[tuple[type, Callable[[Any], None]]] = []
        self._failed: Callable[[ErrorReport], None] | None = None
        self.open = True

    def each(self, tell: Callable[[Event], None]) -> Question:
        """Tell of each event."""
        self._told.append((object, tell))
        return self

    def on(self, kind: type[Told], tell: Callable[[Told], None]) -> Question:
        """Tell of each event of a kind."""
        self._told.append((kind, tell))
        return self

    def done(self, tell: Callable[[Any], None]) -> Question:
        """Tell of each answer."""
        return self.on(self._answer, tell)

    def failed(self, tell: Callable[[ErrorReport], None]) -> Question:
        """Tell of the error that came instead; of an engine that ended, its kind is ``EngineStopped``."""
        self._failed = tell
        return self

    def cancel(self, or_kill: bool = True) -> None:
        """Have the engine stop; its last event is still told of.

        Args:
            or_kill: Kill an engine that does not stop in time.
        """
        if self.open:
            self._give_up(self, or_kill)

    def drop(self) -> None:
        """Give it up: nobody is told of anything any more."""
        if self.open:
            self.open = False
            self._give_up(self, False)

    def take(self, event: Event) -> None:
        """Hand over an event of this request."""
        if isinstance(event, self._answer):
            self._expected -= 1
        if self._expected == 0 or isinstance(event, Failed):
            self.open = False
        for kind, tell in self._told:
            if isinstance(event, kind):
                tell(event)
        if isinstance(event, Failed) and self._failed is not None:
            self._failed(event.error)

    def lose(self, report: ErrorReport) -> None:
        """End the question because the engine ended before it answered."""
        if self.open:
            self.open = False
            if self._failed is not None:
                self._failed(report)


def _answers_expected(command: Request) -> int:
    if isinstance(command, CheckDrafts):
        return len(command.drafts)
    return len(command.models) if isinstance(command, PredictModels) else 1
