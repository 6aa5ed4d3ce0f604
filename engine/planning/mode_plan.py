"""What planning is asked and what it answers: every mode with what it is predicted to do, or why it cannot."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from engine.planning.placement_plan import PlacementPlan

ORDER = ("plain", "lookup", "llmcad", "dovetail", "offload", "layer-offload")
"""The modes that can be planned; of equal predictions the earlier one is taken."""


@dataclass(frozen=True)
class Wishes:
    """What the person has settled.

    Attributes:
        weights: A format's name, or ``auto``.
        kv_cache: What keys and values are in: ``full``, ``q8_0`` or ``auto``.
        context: Tokens; None for the usual.
        ram_budget_bytes: For the engine's whole process; None for what is free.
        vram_budget_bytes: Of the GPU; 0 leaves it alone.
        gpu_layers: Most layers of the model in the GPU's memory; None for as many as fit.
        prompt_tokens: The prompt to predict the first token for.
    """

    weights: str = "auto"
    kv_cache: str = "auto"
    context: int | None = None
    ram_budget_bytes: int | None = None
    vram_budget_bytes: int | None = None
    gpu_layers: int | None = None
    prompt_tokens: int = 512


@dataclass(frozen=True)
class ModePlan:
    """One way to run a model.

    Attributes:
        mode: Its ``--mode`` name.
        summary: Where things live, in a few words.
        refusal: One sentence that says why it cannot run; None where it can, and only then have the others values.
        tokens_per_second: Predicted, while it decodes.
        first_token_s: Predicted time to the first token of a reply to `MachinePlan.prompt_tokens`.
        tokens_per_round: Tokens for each forward of the target (tau).
        draft_nodes: Nodes of the drafts that are predicted to pay best; 0 for none.
        memory_bytes: By device: ``host``, and a GPU's name as torch has it.
        disk_bytes_per_round: What each forward reads from the disk.
        placement: Where the target's layers live.
        context: Tokens.
        draft_device: Where the draft runs, None without one.
    """

    mode: str
    summary: str = ""
    refusal: str | None = None
    tokens_per_second: float | None = None
    first_token_s: float | None = None
    tokens_per_round: float | None = None
    draft_nodes: int = 0
    memory_bytes: dict[str, int] | None = None
    disk_bytes_per_round: int = 0
    placement: PlacementPlan | None = None
    context: int | None = None
    draft_device: str | None = None


@dataclass(frozen=True)
class MachinePlan:
    """All modes for a model on a machine.

    Attributes:
        model: Its name.
        draft: The draft's name, None for none.
        weights: The format that all of them were planned in.
        prompt_tokens: The prompt that the time to the first token is for.
        modes: Fastest first, then those that cannot run.
        chosen: The mode that ``auto`` takes; None where none can run.
        reason: Why, in one sentence.
        measured: Whether the machine's speeds were measured; else figures are guesses.
        profiled: Whether replies of this model on this machine went into them.
        draft_profiled: Whether some of these replies were drafted by this draft.
    """

    model: str
    draft: str | None
    weights: str
    prompt_tokens: int
    modes: tuple[ModePlan, ...]
    chosen: str | None
    reason: str
    measured: bool
    profiled: bool = False
    draft_profiled: bool = False

    def mode(self, name: str) -> ModePlan:
        """One of the modes by its name; KeyError where there is none."""
        for plan in self.modes:
            if plan.mode == name:
                return plan
        raise KeyError(name)

    def as_json(self) -> dict[str, Any]:
        """Plain types, as ``tenon plan --json`` prints them."""
        return asdict(self)
