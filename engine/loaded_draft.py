"""The draft beside a model: whether it fits the model, where it runs, and the drafter that it makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from engine.drafting.draft_model import DraftModel
from engine.drafting.drafter import Drafter
from engine.drafting.dynamic_tree import TreeShape
from engine.drafting.feature_draft import FeatureDraft
from engine.drafting.guarded import Guarded
from engine.drafting.head_layout import head_bytes, read_layout
from engine.drafting.head_loader import check_target, load_feature_network, read_shared, share
from engine.drafting.paced_tree import PacedTree, Pacing
from engine.drafting.sampled_tree import DraftSampling
from engine.drafting.small_model import SmallModel
from engine.errors import InvalidOption
from engine.hub.installed import find_model
from engine.messages import LoadOptions
from engine.model.config import ModelConfig, read_config
from engine.model.decoder import Decoder
from engine.model.footprint import cache_bytes, weight_bytes
from engine.model.layer import ModelWeights
from engine.model.loader import load_weights
from engine.model.packed_loader import load_packed
from engine.model.weight_format import DENSE_BF16, WeightFormat
from engine.modes import MODES, Mode
from engine.placement.link import Link
from engine.placement.resident import Resident
from engine.planning.fit import draft_context, fit_draft, head_weights
from engine.planning.hardware import half_type
from engine.planning.planner import choose_plan
from engine.sentences import figure, mark, say
from engine.text.pairing import check_pair
from engine.text.tokenizer import Tokenizer
from engine.weights.checkpoint import Checkpoint
from engine.weights.draft_kind import draft_kind
from engine.weights.head_checkpoint import HeadCheckpoint

_CPU = torch.device("cpu")
_NO_GPU = mark("There is no GPU that Tenon can use here, so the draft runs on the CPU beside the model.")


@dataclass(frozen=True)
class DraftPlan:
    """What will be loaded as the draft.

    Attributes:
        reference: What the person called it.
        checkpoint: Its folder: a whole model or a head.
        config: Of this checkpoint; a head's blocks.
        weights: Format on the CPU; on a GPU it runs in 16 bits.
        device: Where it runs.
        size_bytes: Weights and cache there.
        notes: Sentences for the person.
    """

    reference: str
    checkpoint: Checkpoint | HeadCheckpoint
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
    reference: str,
    target: Tokenizer,
    target_config: ModelConfig,
    options: LoadOptions,
    gpu: torch.device | None,
    vram_budget_bytes: int,
) -> DraftPlan:
    """Check that a draft fits its target, and decide where it runs.

    Args:
        reference: A folder or a name.
        target: The target's tokenizer.
        target_config: And its config.
        options: Of the target.
        gpu: The GPU, None where there is none.
        vram_budget_bytes: What may be taken of its memory.

    Raises:
        DraftMismatch: its vocabulary, or what it reads of the target's hidden states, is not the target's.
        CheckpointError: its folder is not usable.
    """
    folder = find_model(reference)
    if draft_kind(folder) == "head":
        check_head(MODES[choose_plan(options).mode], reference)
        return _plan_head(reference, HeadCheckpoint(folder), target_config, options, gpu, vram_budget_bytes)
    checkpoint = Checkpoint(folder)
    config = read_config(checkpoint)
    check_pair(target, Tokenizer(folder))
    fit = fit_draft(config, options)
    on_cpu = fit.weight_bytes + fit.cache_bytes
    if gpu is None:
        return DraftPlan(reference, checkpoint, config, fit.weights, _CPU, on_cpu, (say(_NO_GPU),))
    half = DENSE_BF16
    needed = weight_bytes(config, half) + cache_bytes(config, fit.context, half)
    if needed > vram_budget_bytes:
        note = _gpu_too_small(needed, vram_budget_bytes)
        return DraftPlan(reference, checkpoint, config, fit.weights, _CPU, on_cpu, (note,))
    return DraftPlan(reference, checkpoint, config, fit.weights, gpu, needed)


def _plan_head(
    reference: str,
    checkpoint: HeadCheckpoint,
    target: ModelConfig,
    options: LoadOptions,
    gpu: torch.device | None,
    vram_budget_bytes: int,
) -> DraftPlan:
    """The same for a head, which brings no tokenizer and shares embedding and head with the target."""
    layout = read_layout(checkpoint)
    check_target(layout, target)
    weights = head_weights()
    context = draft_context(target, options)

    def plan(weights: WeightFormat, device: torch.device, copied_bytes: int, *notes: str) -> DraftPlan:
        size = head_bytes(layout, weights) + cache_bytes(layout.blocks, context, weights) + copied_bytes
        return DraftPlan(reference, checkpoint, layout.blocks, weights, device, size, notes)

    if gpu is None:
        return plan(weights, _CPU, 0, say(_NO_GPU))
    half = half_type(gpu)
    # On another device what is shared has to be copied.
    copied = target.vocabulary_size * target.hidden_size * half.itemsize * (1 if target.tied else 2)
    on_gpu = plan(WeightFormat("16 bits", half, half, half), gpu, copied)
    if on_gpu.size_bytes > vram_budget_bytes:
        note = _gpu_too_small(on_gpu.size_bytes, vram_budget_bytes)
        return plan(weights, _CPU, 0, note)
    return on_gpu


def _gpu_too_small(needed_bytes: int, budget_bytes: int) -> str:
    return say(
        "The draft needs {needed} GB of the GPU's memory and may take {budget} GB, so it runs on the CPU.",
        needed=figure(needed_bytes / 1e9, ".3g"),
        budget=figure(budget_bytes / 1e9, ".3g"),
    )


class LoadedDraft:
    """A draft in memory. Its cache lives on between replies, as the target's does.

    Attributes:
        reference: What the person called it.
        device: Where it runs.
    """

    def __init__(
        self,
        plan: DraftPlan,
        target: Decoder,
        target_checkpoint: Checkpoint,
        context: int,
        link: Link,
        check: Callable[[], None],
    ) -> None:
        """Load it.

        Args:
            plan: From `plan_draft`.
            target: What it drafts for.
            target_checkpoint: Of this.
            context: Tokens of context of the target.
            link: The way to the plan's device.
            check: Called often, now and while it drafts; raises to stop.
        """
        self.reference = plan.reference
        self.device = plan.device
        self.notes = plan.notes
        self._link = link
        self._made: DraftModel | FeatureDraft
        if isinstance(plan.checkpoint, HeadCheckpoint):
            shared = share(target.source)
            if plan.device.type != "cpu":
                dtype = plan.weights.activations
                shared = read_shared(target_checkpoint, target.config, dtype, plan.device, check)
            network = load_feature_network(plan.checkpoint, target.config, shared, plan.weights, check)
            self._made = FeatureDraft(network, TreeShape(), context, link, check)
            return
        loaded = _load_model(plan, plan.checkpoint, check)
        self.notes += loaded.notes
        decoder = Decoder(plan.config, Resident(loaded))
        self._made = DraftModel(decoder, target.config.vocabulary_size, context, link, check)

    def drafter(
        self,
        mode: Mode,
        options: LoadOptions,
        sampling: DraftSampling | None,
        failed: Callable[[str], None],
        drafted: Callable[[Sequence[int]], None],
    ) -> Drafter:
        """The drafter of one reply.

        Args:
            mode: Says how it drafts.
            options: How large its trees may get, and how LLMCad drafts.
            sampling: How its drafts are drawn, where the mode can draw them; None for the likeliest tokens.
            failed: Called once with a sentence if the draft fails; the reply goes on without it.
            drafted: Called with the tokens of the best guess as it grows, where the mode drafts for long.

        Raises:
            InvalidOption: a head cannot draft as the mode asks.
        """
        if isinstance(self._made, FeatureDraft):
            check_head(mode, self.reference)
            self._made.shape = tree_shape(options)
            self._made.sampling = sampling
            return Guarded(self._made, self._link, failed)
        if mode.drafting == "branches":
            return Guarded(PacedTree(self._made, pacing(options), drafted), self._link, failed)
        return Guarded(SmallModel(self._made, tree_shape(options), sampling), self._link, failed)


def tree_shape(options: LoadOptions) -> TreeShape:
    """How large dynamic trees may get. InvalidOption where that is out of range."""
    nodes = TreeShape.nodes if options.draft_nodes is None else options.draft_nodes
    return TreeShape(options.draft_width, options.draft_depth, nodes)


def pacing(options: LoadOptions) -> Pacing:
    """How LLMCad drafts. InvalidOption where that is out of range."""
    return Pacing(
        options.fallback_threshold,
        options.branching,
        options.adaptive_fallback,
        options.draft_ahead,
        options.draft_beyond,
        options.draft_depth,
    )


def check_head(mode: Mode, reference: str) -> None:
    """Refuse a draft head where drafts are to go on while the target's hidden states are not there yet.

    Raises:
        InvalidOption: the mode is one of those.
    """
    if mode.drafting == "branches":
        raise InvalidOption(
            say(
                "The draft {reference} is a head that needs the model's hidden states, so it cannot "
                "guess while the model is read: choose a small model of the same vocabulary as the "
                "draft for {name}, or the mode dovetail.",
                reference=reference,
                name=mode.name,
            )
        )


def _load_model(plan: DraftPlan, checkpoint: Checkpoint, check: Callable[[], None]) -> ModelWeights:
    """The weights of a draft that is a whole model."""
    if plan.device.type != "cpu":
        return load_weights(checkpoint, plan.config, half_type(plan.device), plan.device, check=check)
    if plan.weights.packed:
        return load_packed(checkpoint, plan.config, plan.weights, check=check)
    return load_weights(checkpoint, plan.config, plan.weights.dense, plan.device, check=check)
