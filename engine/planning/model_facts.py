"""What planning needs to know of models: sizes from their configs, whether or not their weights are here."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from engine.drafting.head_layout import HeadLayout, read_layout
from engine.errors import WeightsMissing
from engine.model.config import ModelConfig, read_config
from engine.model.footprint import weight_bytes
from engine.model.weight_format import WeightFormat, weight_format
from engine.planning.format_choice import quantized_format
from engine.weights.checkpoint import Checkpoint
from engine.weights.checkpoint_outline import CheckpointOutline
from engine.weights.draft_kind import draft_kind
from engine.weights.head_checkpoint import HeadCheckpoint

_EXACT = weight_format("fp32")


@dataclass(frozen=True)
class TargetFacts:
    """A model to be run.

    Attributes:
        name: What to call it.
        config: Its config.
        missing_bytes: What has to be downloaded first; 0 where its weights are here.
        digest: Names its weights in what was measured; empty where they are not here.
    """

    name: str
    config: ModelConfig
    missing_bytes: int = 0
    digest: str = ""

    @property
    def layer_elements(self) -> int:
        """Weights of a layer: each is multiplied once for each token."""
        one, two = (weight_bytes(replace(self.config, layers=layers), _EXACT) for layers in (1, 2))
        return (two - one) // _EXACT.dense.itemsize

    @property
    def head_elements(self) -> int:
        """Weights of the head."""
        return self.config.vocabulary_size * self.config.hidden_size

    @property
    def parameters(self) -> int:
        """All weights, shared ones counted once."""
        return weight_bytes(self.config, _EXACT) // _EXACT.dense.itemsize


@dataclass(frozen=True)
class DraftFacts:
    """A draft for a model.

    Attributes:
        name: What to call it.
        kind: A whole model, or a head on the target's hidden states.
        layers: Its layers or blocks.
        read_elements: Weights that a forward reads: its layers, what joins its inputs, and the head.
        kept_elements: Weights of its own in memory.
        shared_elements: What it shares with its target: embedding and head; on another device they are copied.
        cache_elements: Keys and values of one token.
        context_length: Its longest text.
        digest: Names its weights in what was measured.
        quantized: What its file is in, where that is quantized.
    """

    name: str
    kind: Literal["model", "head"]
    layers: int
    read_elements: int
    kept_elements: int
    shared_elements: int
    cache_elements: int
    context_length: int
    digest: str = ""
    quantized: WeightFormat | None = None


def target_facts(name: str, path: Path) -> TargetFacts:
    """A model by its folder or file; of a folder config.json is enough.

    Raises:
        CheckpointError: it is not usable.
    """
    try:
        checkpoint = Checkpoint(path)
    except WeightsMissing:
        # Not here, or not all of it. Published weights are in 16 bits mostly.
        outline = CheckpointOutline(path)
        config = read_config(outline)
        return TargetFacts(
            name, config, missing_bytes=outline.size_bytes or weight_bytes(config, _EXACT) // 2
        )
    return TargetFacts(name, read_config(checkpoint), digest=checkpoint.digest())


def draft_facts(name: str, folder: Path, target: ModelConfig) -> DraftFacts:
    """A draft by its folder; of a whole model config.json is enough, a head must be here.

    Raises:
        CheckpointError: the folder is not usable.
    """
    if draft_kind(folder) == "head":
        checkpoint = HeadCheckpoint(folder)
        return head_facts(name, read_layout(checkpoint), target, _head_digest(checkpoint))
    return model_draft_facts(target_facts(name, folder))


def model_draft_facts(facts: TargetFacts) -> DraftFacts:
    """A whole model as a draft."""
    config = facts.config
    return DraftFacts(
        name=facts.name,
        kind="model",
        layers=config.layers,
        read_elements=config.layers * facts.layer_elements + facts.head_elements,
        kept_elements=facts.parameters,
        shared_elements=0,
        cache_elements=2 * config.layers * config.kv_size,
        context_length=config.context_length,
        digest=facts.digest,
        quantized=quantized_format(config),
    )


def head_facts(name: str, layout: HeadLayout, target: ModelConfig, digest: str = "") -> DraftFacts:
    """A head for a target of this config."""
    slots = (*layout.outer, *(slot for slots in layout.layers for slot in slots))
    matrices = [slot for slot in slots if len(slot.shape) == 2]
    own = {
        slot.field: slot.shape[0] * slot.shape[1] for slot in matrices if slot.field in ("embedding", "head")
    }
    table = target.vocabulary_size * target.hidden_size
    inner = sum(slot.shape[0] * slot.shape[1] for slot in matrices if slot.field not in own)
    return DraftFacts(
        name=name,
        kind="head",
        layers=layout.blocks.layers,
        read_elements=inner + own.get("head", table),
        kept_elements=inner + sum(own.values()),
        shared_elements=table * (1 if target.tied else 2),
        cache_elements=2 * layout.blocks.layers * layout.blocks.kv_size,
        context_length=target.context_length,
        digest=digest,
    )


def _head_digest(checkpoint: HeadCheckpoint) -> str:
    """Names a head by its config, its tensors and where it lies: heads of one layout differ in nothing else."""
    facts = (checkpoint.config, sorted(checkpoint.shapes.items()), str(checkpoint.folder.resolve()))
    return hashlib.sha256(repr(facts).encode()).hexdigest()
