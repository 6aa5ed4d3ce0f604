"""A whole model of the target's vocabulary as its draft."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import torch

from engine.drafting.draft_model import DraftModel, DraftModelDrafter
from engine.drafting.drafter import Drafter
from engine.drafting.kind import (
    Drafting,
    DraftKind,
    DraftLoad,
    DraftPlan,
    DraftText,
    LoadedDraft,
    Pacing,
    Seconds,
)
from engine.drafting.paced_tree import PacedTree
from engine.errors import DraftMismatch
from engine.graphics.adapters import DEVICE, open_chip
from engine.graphics.decoder import ChipDecoder, can_run
from engine.messages import PromptKind
from engine.model.config import ModelConfig
from engine.model.decoder import Decoder
from engine.model.footprint import cache_bytes, layer_elements, weight_bytes
from engine.model.layer import ModelWeights
from engine.model.loader import load_weights
from engine.model.packed_loader import load_packed
from engine.model.weight_format import WeightFormat, stored_format, weight_format
from engine.model_file import OpenedModel
from engine.placement.device import Link, half_type
from engine.placement.resident import Resident
from engine.sentences import figure
from engine.text.pairing import check_pair, have_one_vocabulary
from engine.weights.checkpoint import Checkpoint

# Up to this size in float32 the time of a draft is that of its operators, beyond it that of its bytes.
SMALL_DRAFT_BYTES = 64 << 20


@dataclass(frozen=True)
class ModelDraft(DraftKind):
    """A whole model."""

    config: ModelConfig  # config of the draft's checkpoint

    kind = "model"
    # Dovetail's table I (Zhang et al. 2024): tau of LLaMA2-Chat-7B with TinyLlama-1.1B.
    published: ClassVar[Mapping[PromptKind, float]] = {
        "chat": 4.89,
        "code": 5.70,
        "arithmetic": 4.38,
        "instruction": 4.57,
    }

    @classmethod
    def read(cls, opened: OpenedModel, target: ModelConfig) -> ModelDraft:
        """Read the model's config; if the model is not downloaded yet, its config.json is enough.

        Raises:
            CheckpointError: The model is not usable.
        """
        return cls(opened, opened.digest, opened.config)

    @property
    def layers(self) -> int:
        """Number of layers."""
        return self.config.layers

    @property
    def read_elements(self) -> int:
        """Elements of all layers and the head."""
        return _read_elements(self.config)

    @property
    def context_length(self) -> int:
        """Tokens of context that it was made for."""
        return self.config.context_length

    def host_format(self, seconds: Seconds, kernels: bool) -> WeightFormat:
        """Return the format of its file if that is quantized, else the fastest one.

        A draft need not be exact, so a small one takes 16 bits if the kernel library runs them: a third of
        float32's time, since its time is that of the number of operators. A draft larger than the processor's
        caches takes the format that multiplies fastest; 4 bits would cost too many of its guesses.
        """
        if self.config.quantization is not None:
            return stored_format(self.config)
        if weight_bytes(self.config, weight_format("fp32")) <= SMALL_DRAFT_BYTES:
            return weight_format("bf16" if kernels else "fp32")
        measured = seconds()
        return weight_format(min(("fp32", "bf16", "q8_0"), key=measured.__getitem__))

    def runs_on_chip(self, weights: WeightFormat) -> bool:
        return can_run(self.config, weights)

    def size_bytes(self, weights: WeightFormat, context: int, elsewhere: bool = False) -> int:
        """Return the bytes of weights and cache; nothing is shared with the target."""
        return weight_bytes(self.config, weights) + cache_bytes(self.config, context, weights)

    def check(self, target: OpenedModel) -> None:
        """Check that its tokens are the target's, and that it is no larger.

        Raises:
            DraftMismatch: Either does not hold.
        """
        self.check_tokens(target)
        self.check_size(target.config)

    def check_tokens(self, target: OpenedModel) -> None:
        """Check that its tokens are the target's.

        Raises:
            DraftMismatch: They differ.
        """
        if target is not self.opened and not have_one_vocabulary(target.metadata, self.opened.metadata):
            check_pair(target.vocabulary, self.opened.vocabulary)

    def check_size(self, target: ModelConfig) -> None:
        """Check that no more weights are read for a guess than for a token of the target.

        Raises:
            DraftMismatch: More are.
        """
        own, most = self.read_elements, _read_elements(target)
        if own > most:
            raise DraftMismatch(
                "The draft reads {times} times as many weights as the model for each guess, so the model is faster "
                "alone; choose a smaller draft.",
                times=figure(own / most, ".2g"),
            )

    def load(self, parts: DraftLoad) -> LoadedDraft:
        """Read the weights."""
        vocabulary_size = parts.target.config.vocabulary_size
        decoder: Decoder | ChipDecoder
        link, notes = parts.link, tuple[str, ...]()
        if link.device.type == DEVICE:
            chip, link = open_chip(parts.plan.device), Link(torch.device("cpu"))  # it takes tensors of the host
            of_draft = self.opened.checkpoint, self.config, parts.plan.weights
            decoder = ChipDecoder(chip, *of_draft, vocabulary_size, parts.check)
        else:
            weights = self._weights(self.opened.checkpoint, parts.plan, parts.check)
            decoder, notes = Decoder(self.config, Resident(weights)), weights.notes

        def new_text() -> DraftText:
            model = DraftModel(decoder, vocabulary_size, parts.context, link, parts.check)
            return partial(_drafter, model)

        return LoadedDraft(self.name, self.kind, parts.link, new_text, notes)

    def _weights(self, checkpoint: Checkpoint, plan: DraftPlan, check: Callable[[], None]) -> ModelWeights:
        device = torch.device(plan.device)
        if plan.on_gpu:
            return load_weights(checkpoint, self.config, half_type(device), device, check=check)
        if plan.weights.packed:
            return load_packed(checkpoint, self.config, plan.weights, check=check)
        return load_weights(checkpoint, self.config, plan.weights.dense, device, check=check)


def _drafter(model: DraftModel, wanted: Drafting) -> Drafter:
    """Make a drafter of dynamic trees by level, or of branches that are paced."""
    if isinstance(wanted.growth, Pacing):
        return PacedTree(model, wanted.growth, wanted.drafted)
    return DraftModelDrafter(model, wanted.growth, wanted.reading_s)


def _read_elements(config: ModelConfig) -> int:
    return config.layers * layer_elements(config) + config.vocabulary_size * config.hidden_size
