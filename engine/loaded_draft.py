"""The draft beside a model: whether it fits the model, where it runs, and the drafter that it makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from engine.drafting.drafter import Drafter
from engine.drafting.dynamic_tree import TreeShape
from engine.drafting.guarded import Guarded
from engine.drafting.small_model import SmallModel
from engine.errors import UnsupportedModel
from engine.hub.installed import cache_folder, find_model
from engine.messages import LoadOptions
from engine.model.config import ModelConfig, read_config
from engine.model.decoder import Decoder
from engine.model.footprint import cache_bytes, weight_bytes
from engine.model.loader import load_weights
from engine.model.packed_loader import load_packed
from engine.model.weight_format import FORMATS, WeightFormat
from engine.placement.link import Link
from engine.placement.resident import Resident
from engine.planning.fit import fit_draft
from engine.planning.hardware import half_type
from engine.text.pairing import check_pair
from engine.text.tokenizer import Tokenizer
from engine.weights.checkpoint import Checkpoint
from engine.weights.draft_kind import draft_kind

_CPU = torch.device("cpu")
_NO_GPU = "There is no GPU that Tenon can use here, so the draft runs on the CPU beside the model."
_GPU_TOO_SMALL = (
    "The draft needs {needed:.3g} GB of the GPU's memory and may take {budget:.3g} GB, so it runs on the CPU."
)


@dataclass(frozen=True)
class DraftPlan:
    """What will be loaded as the draft.

    Attributes:
        reference: What the person called it.
        checkpoint: Its folder.
        config: Of this checkpoint.
        weights: Format on the CPU; on a GPU it runs in 16 bits.
        device: Where it runs.
        size_bytes: Weights and cache there.
        notes: Sentences for the person.
    """

    reference: str
    checkpoint: Checkpoint
    config: ModelConfig
    weights: WeightFormat
    device: torch.device
    size_bytes: int
    notes: tuple[str, ...] = ()

    @property
    def host_bytes(self) -> int:
        """Of these in the host's memory."""
        return self.size_bytes if self.device.type == "cpu" else 0


def plan_draft(
    reference: str, target: Tokenizer, options: LoadOptions, gpu: torch.device | None, vram_budget_bytes: int
) -> DraftPlan:
    """Check that a draft fits its target, and decide where it runs.

    Args:
        reference: A folder or a name.
        target: The target's tokenizer.
        options: Of the target.
        gpu: The GPU, None where there is none.
        vram_budget_bytes: What may be taken of its memory.

    Raises:
        DraftMismatch: its vocabulary is not the target's.
        CheckpointError: its folder is not usable.
    """
    folder = find_model(reference)
    if draft_kind(folder) == "head":
        raise UnsupportedModel(
            f"The folder {folder} holds a draft head, and this version drafts with whole models only: name a small "
            "model of the same vocabulary."
        )
    checkpoint = Checkpoint(folder)
    config = read_config(checkpoint)
    check_pair(target, Tokenizer(folder))
    fit = fit_draft(config, options)
    on_cpu = fit.weight_bytes + fit.cache_bytes
    if gpu is None:
        return DraftPlan(reference, checkpoint, config, fit.weights, _CPU, on_cpu, (_NO_GPU,))
    half = FORMATS["bf16"]
    needed = weight_bytes(config, half) + cache_bytes(config, fit.context, half)
    if needed > vram_budget_bytes:
        note = _GPU_TOO_SMALL.format(needed=needed / 1e9, budget=vram_budget_bytes / 1e9)
        return DraftPlan(reference, checkpoint, config, fit.weights, _CPU, on_cpu, (note,))
    return DraftPlan(reference, checkpoint, config, fit.weights, gpu, needed)


class LoadedDraft:
    """A draft in memory. Its cache lives on between replies, as the target's does.

    Attributes:
        reference: What the person called it.
        device: Where it runs.
    """

    def __init__(
        self,
        plan: DraftPlan,
        vocabulary_size: int,
        context: int,
        link: Link,
        check: Callable[[], None],
    ) -> None:
        """Load it.

        Args:
            plan: From `plan_draft`.
            vocabulary_size: Rows of the target's head.
            context: Tokens of context of the target.
            link: The way to the plan's device.
            check: Called often, now and while it drafts; raises to stop.
        """
        self.reference = plan.reference
        self.device = plan.device
        self._link = link
        weights = plan.weights
        if plan.device.type != "cpu":
            dtype = half_type(plan.device)
            loaded = load_weights(plan.checkpoint, plan.config, dtype, plan.device, check=check)
        elif weights.packing is None:
            loaded = load_weights(plan.checkpoint, plan.config, weights.dense, plan.device, check=check)
        else:
            folder: Path = cache_folder() / "packed"
            loaded = load_packed(plan.checkpoint, plan.config, weights, folder, check=check)
        self.notes = (*plan.notes, *loaded.notes)
        decoder = Decoder(plan.config, Resident(loaded))
        self._drafter = SmallModel(decoder, vocabulary_size, TreeShape(), context, link, check)

    def drafter(self, shape: TreeShape, failed: Callable[[str], None]) -> Drafter:
        """The drafter of one reply.

        Args:
            shape: How large its trees may get.
            failed: Called once with a sentence if the draft fails; the reply goes on without it.
        """
        self._drafter.shape = shape
        return Guarded(self._drafter, self._link, failed)
