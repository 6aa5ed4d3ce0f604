"""Gemma 4's assistants as drafts: trees whose branches cost a row each, for there is no cache of the draft's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from engine.drafting.assistant_network import (
    AssistantLayout,
    AssistantNetwork,
    load_assistant,
    read_assistant,
)
from engine.drafting.drafter import Drafter
from engine.drafting.dynamic_tree import Level, TreeShape, grow_tree
from engine.drafting.head_draft import HeadDraft
from engine.drafting.kind import Drafting, DraftLoad, LoadedDraft, ReadTokenizer
from engine.drafting.target_draft import TargetDraft
from engine.model.config import ModelConfig
from engine.model.token_tree import ROOT, Draft, DraftShape
from engine.model.weight_format import WeightFormat
from engine.weights.draft_kind import is_assistant
from engine.weights.head_checkpoint import HeadCheckpoint


@dataclass(frozen=True)
class AssistantDraft(TargetDraft[AssistantLayout]):
    """An assistant, which shares the target's embedding."""

    kind = "head"
    # The target's keys are where the target is, and a step is small.
    on_host = True
    # Nothing is published of trees. A head's stand here until replies have counted.
    published = HeadDraft.published

    @classmethod
    def accepts(cls, folder: Path) -> bool:
        """A folder whose config names an assistant."""
        return is_assistant(folder)

    @classmethod
    def read_layout(cls, checkpoint: HeadCheckpoint) -> AssistantLayout:
        """The assistant of a checkpoint."""
        return read_assistant(checkpoint)

    @property
    def layers(self) -> int:
        """Its layers."""
        return self.layout.blocks.layers

    @property
    def read_elements(self) -> int:
        """Its matrices; of a table by clusters the rows of those that a step looks at."""
        layout = self.layout
        slots = [slot for slot in layout.slots if len(slot.shape) == 2 and slot.field != "embedding"]
        near = 0
        if layout.centroids:
            near = (
                layout.chosen
                * (layout.blocks.vocabulary_size // layout.centroids)
                * layout.blocks.hidden_size
            )
        return near + sum(slot.shape[0] * slot.shape[1] for slot in slots)

    def size_bytes(self, weights: WeightFormat, context: int, elsewhere: bool = False) -> int:
        """Its weights; it has no cache."""
        return self.layout.size_bytes(weights)

    def check(self, folder: Path, target: Path, config: ModelConfig, read: ReadTokenizer) -> None:
        """Family, sizes and the shape of keys must be the target's."""
        self.layout.for_target(config)

    def load(self, parts: DraftLoad) -> LoadedDraft:
        """Read the weights."""
        checkpoint, source = HeadCheckpoint(parts.folder), parts.target.source
        network = load_assistant(
            checkpoint, parts.target.config, source.embedding, source.dtype, parts.plan.weights, parts.check
        )
        return LoadedDraft(
            self.name, self.kind, parts.link, lambda: partial(AssistantDrafter, network, parts.check)
        )


class AssistantDrafter(Drafter):
    """Trees of an assistant; between replies nothing is kept.

    Args:
        network: The draft.
        check: Called between its layers; raises to cancel.
        wanted: The reply's drafts, and the target's cache.

    Attributes:
        hidden_layers: The head's input of the target.
    """

    def __init__(self, network: AssistantNetwork, check: Callable[[], None], wanted: Drafting) -> None:
        assert isinstance(wanted.growth, TreeShape), "a mode that paces branches was given an assistant"
        assert wanted.cache is not None, "an assistant reads the target's cache"
        self.hidden_layers = network.hidden_layers
        self._network, self._check = network, check
        self._limits, self._cache = wanted.growth, wanted.cache
        self._text: list[int] = []
        self._feature = torch.empty(0)

    def reset(self, prompt: Sequence[int]) -> int:
        """A new reply; of the prompt the last token's row is needed alone."""
        self._text = list(prompt)
        return len(prompt) - 1

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Note emitted tokens, and the row of the one before the last."""
        self._text += tokens
        if hidden is not None:
            self._feature = hidden[-1:].clone()  # not the whole of a long prompt's memory

    @torch.inference_mode()
    def propose(self, shape: DraftShape) -> Draft:
        """A tree below the last observed token: dynamic, or fixed."""
        if shape.rows < 1:
            return Draft()
        network, cache, check = self._network, self._cache(), self._check
        first, features = network.run(torch.tensor(self._text[-1:]), self._feature, cache, check)

        def expand(level: Level) -> Tensor:
            nonlocal features
            parents = torch.tensor([parent - ROOT for parent in level.parents])
            logits, made = network.run(torch.tensor(level.tokens), features[parents], cache, check)
            features = torch.cat((features, made))
            return logits

        return grow_tree(self._limits, shape, first[0], expand)
