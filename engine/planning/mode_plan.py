"""Answer of planning: every mode with its prediction, or the reason why it gains nothing here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.planning.load_plan import LoadPlan


@dataclass(frozen=True)
class ModePlan:
    """One way to run a model.

    Attributes:
        mode: Its ``--mode`` name.
        load: How the model is loaded for it, where it can be: also for a mode that gains nothing here.
        refusal: One sentence that says why ``auto`` never takes it; None where it may, and only then have the others
            values.
        summary: Where things live, in a few words.
        tokens_per_second: Predicted, while it decodes.
        first_token_s: Predicted time to the first token of a reply to `MachinePlan.prompt_tokens`.
        tokens_per_round: Tokens for each forward of the target (tau).
        draft_nodes: Nodes of the drafts that are predicted to pay best; 0 for none.
        disk_bytes_per_round: What each forward reads from the disk.
    """

    mode: str
    load: LoadPlan | None = None
    refusal: str | None = None
    summary: str = ""
    tokens_per_second: float | None = None
    first_token_s: float | None = None
    tokens_per_round: float | None = None
    draft_nodes: int = 0
    disk_bytes_per_round: int = 0

    @property
    def usable(self) -> LoadPlan | None:
        """The load, where ``auto`` may take the mode."""
        return self.load if self.refusal is None else None

    @property
    def memory_bytes(self) -> dict[str, int] | None:
        """By device: ``host``, and a GPU's name as torch has it."""
        if self.usable is None:
            return None
        there = {self.usable.device: self.usable.on_device.total} if self.usable.device else {}
        return {"host": self.usable.host.total, **there}

    def as_json(self) -> dict[str, Any]:
        """Plain types, as ``tenon plan --json`` prints them."""
        load = self.usable
        draft = None if load is None else load.draft
        return {
            "mode": self.mode,
            "summary": self.summary,
            "refusal": self.refusal,
            "tokens_per_second": self.tokens_per_second,
            "first_token_s": self.first_token_s,
            "tokens_per_round": self.tokens_per_round,
            "draft_nodes": self.draft_nodes,
            "weights": None if load is None else load.weights.name,
            "memory_bytes": self.memory_bytes,
            "disk_bytes_per_round": self.disk_bytes_per_round,
            "placement": None if load is None else load.placement.as_json(),
            "context": None if load is None else load.context,
            "draft_device": None if draft is None else draft.device,
        }


@dataclass(frozen=True)
class MachinePlan:
    """All modes for a model on a machine.

    Attributes:
        model: Its name.
        draft: The draft's name, None for none.
        prompt_tokens: The prompt that the time to the first token is for.
        modes: Fastest first, then those that cannot run.
        chosen: The mode that ``auto`` takes; None where none can run.
        reason: Why, in one sentence.
        measured: Whether the machine's speeds were measured; else figures are guesses.
        profiled: Whether replies of this model on this machine went into them.
        draft_profiled: Whether some of these replies were drafted by this draft.
        weights: The format of the mode that ``auto`` takes; each mode has the one that suits it.
    """

    model: str
    draft: str | None
    prompt_tokens: int
    modes: tuple[ModePlan, ...]
    chosen: str | None
    reason: str
    measured: bool
    profiled: bool
    draft_profiled: bool
    weights: str

    def mode(self, name: str) -> ModePlan:
        """One of the modes by its name; KeyError where there is none."""
        for plan in self.modes:
            if plan.mode == name:
                return plan
        raise KeyError(name)

    def as_json(self) -> dict[str, Any]:
        """Plain types, as ``tenon plan --json`` prints them."""
        return {**vars(self), "modes": [mode.as_json() for mode in self.modes]}
