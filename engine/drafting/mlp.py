"""MLP speculators as IBM publishes them (``mlp_speculator``): a stage for each level, over a state and a token.

A stage takes the state of the level before, at the root the target's hidden row, maps it and adds the embedding of
the token there; its head predicts the next token. With ``tie_weights`` all stages are one, except for the map of
the target's row.

Source: Wertheimer et al. 2024, "Accelerating Production LLMs with Combined Token/Embedding Speculators" (arXiv
2404.19124), and vLLM for the names (model_executor/models/mlp_speculator.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from engine.drafting.head_layout import MISMATCH, bad_value, check_keys, slot_bytes
from engine.drafting.head_loader import HeadMaps, check_sizes
from engine.drafting.kind import DraftLoad, DraftText, LoadedDraft
from engine.drafting.level_drafter import LastRowDrafter, LevelDrafter
from engine.drafting.medusa import MedusaDraft
from engine.drafting.target_draft import TargetDraft
from engine.drafting.trees import Level, with_states
from engine.messages import PromptKind
from engine.model.linear import LinearMap, Norm
from engine.model.tensors import Slot, compare_tensors
from engine.model.token_tree import Draft, DraftShape
from engine.model.weight_format import WeightFormat
from engine.model_file import OpenedModel
from engine.placement.device import Link
from engine.weights.head_checkpoint import HeadCheckpoint

_READ = ("emb_dim", "hidden_size", "inner_dim", "n_predict", "scale_input", "tie_weights", "vocab_size")
# Key that says how many tokens to try at each level, which the schedule decides.
_UNUSED = ("n_candidates", "num_lookahead_tokens", "top_k_tokens_per_head", "base_model_name_or_path")
_EPSILON = 1e-6


@dataclass(frozen=True)
class MlpLayout:
    """Contents of such a checkpoint."""

    levels: int  # tokens of a draft's path
    hidden_size: int  # hidden size of the target
    width: int  # width of a state
    vocabulary_size: int  # vocabulary size of the target
    scales: bool  # True if the target's row is brought to a length first
    stages: tuple[tuple[Slot, ...], ...]  # tensors of each level; those of several may be the same

    @property
    def slots(self) -> tuple[Slot, ...]:
        """All tensors, each once."""
        return tuple(dict.fromkeys(slot for stage in self.stages for slot in stage))


def read_mlp(checkpoint: HeadCheckpoint) -> MlpLayout:
    """Read a layout and check its tensors.

    Raises:
        UnsupportedModel: A setting that Tenon does not know.
        ConfigInvalid: A value of config.json is missing or makes no sense.
        TensorMismatch: A tensor is missing, unexpected or of the wrong shape.
    """
    raw, names = checkpoint.config, checkpoint.shapes
    check_keys(raw, (*_READ, *_UNUSED))
    try:
        hidden, vocabulary, levels = int(raw["emb_dim"]), int(raw["vocab_size"]), int(raw["n_predict"])
        width = int(raw.get("inner_dim") or hidden)
        if min(hidden, vocabulary, levels, width) < 1 or levels > 64:
            raise ValueError(f"emb_dim {hidden}, inner_dim {width}, vocab_size {vocabulary}, n_predict {levels}")
    except (TypeError, ValueError, KeyError) as error:
        raise bad_value(error) from error
    prefix = "speculator." if any(name.startswith("speculator.") for name in names) else ""
    tied = bool(raw.get("tie_weights"))

    def stage(level: int) -> tuple[Slot, ...]:
        one, mapped = (0, min(level, 1)) if tied else (level, level)
        return (
            Slot(f"{prefix}emb.{one}.weight", (vocabulary, width), "embedding"),
            Slot(f"{prefix}proj.{mapped}.weight", (width, width if level else hidden), "map"),
            Slot(f"{prefix}ln.{one}.weight", (width,), "norm"),
            Slot(f"{prefix}ln.{one}.bias", (width,), "norm_bias"),
            Slot(f"{prefix}head.{one}.weight", (vocabulary, width), "head"),
        )

    layout = MlpLayout(
        levels, hidden, width, vocabulary, bool(raw.get("scale_input")), tuple(map(stage, range(levels)))
    )
    # Files have tied weights once, or once for each level.
    parts, numbers = ("emb", "proj", "ln", "head"), range(levels)
    copies = tuple(f"{prefix}{part}.{number}." for part in parts for number in numbers) if tied else ()
    compare_tensors(
        names,
        {slot.name: slot.shape for slot in layout.slots},
        lambda name: name.startswith(copies),
        MISMATCH,
    )
    return layout


@dataclass(frozen=True)
class _Stage:
    embedding: Tensor
    map: LinearMap
    norm: Norm
    bias: Tensor
    head: LinearMap


class MlpNetwork:
    """Runs the stages.

    Args:
        layout: Sizes.
        stages: Weights of each level.
        dtype: Type of the states.
        device: Device of the stages.
    """

    def __init__(self, layout: MlpLayout, stages: Sequence[_Stage], dtype: torch.dtype, device: torch.device) -> None:
        self.layout = layout
        self._stages, self._dtype = stages, dtype
        kept = 0.5 ** (0.5 / layout.levels)
        self._token_weight = math.sqrt((1 - kept**2) * layout.width / 2) / kept
        self._scaling = Norm(torch.ones(layout.hidden_size, device=device), _EPSILON, scale=0.5**0.5)

    @torch.inference_mode()
    def run(self, level: int, tokens: Tensor, states: Tensor) -> tuple[Tensor, Tensor]:
        """Run one level.

        Args:
            level: Index of the level; 0 is right after the root.
            tokens: (n,) int64 tokens of the nodes.
            states: (n, w) states of their parents; at the root (1, target's h), after the target's final norm.

        Returns:
            (n, V) float32 logits of the next tokens, and (n, w) the states of these nodes.
        """
        stage, states = self._stages[level], states.to(self._dtype)
        if level == 0 and self.layout.scales:
            states = self._scaling(states)
        embedded = functional.embedding(tokens, stage.embedding).to(self._dtype)
        mixed = torch.add(stage.map(states), embedded, alpha=self._token_weight)
        states = functional.gelu(stage.norm(mixed) + stage.bias)
        return stage.head(states).float(), states


def load_mlp(
    checkpoint: HeadCheckpoint,
    weights: WeightFormat,
    device: torch.device,
    check: Callable[[], None] = lambda: None,
) -> MlpNetwork:
    """Load such a draft.

    Args:
        checkpoint: The draft's.
        weights: Format of its matrices. Packed formats need the CPU.
        device: Place of the weights.
        check: Called before each tensor; raises to cancel.

    Raises:
        UnsupportedModel: A setting that Tenon does not know.
        ConfigInvalid: A value of its config.json makes no sense.
        TensorMismatch: A tensor is missing, unexpected or of the wrong shape.
    """
    layout, maps = read_mlp(checkpoint), HeadMaps(weights, device)

    @cache
    def read(slot: Slot) -> Tensor:
        return maps.read(checkpoint, [slot], check)[slot.field]

    @cache
    def linear(slot: Slot) -> LinearMap:
        return maps.linear(read(slot), None)

    stages = []
    for embedding, mapped, norm, bias, head in layout.stages:
        norms = Norm(read(norm), _EPSILON), read(bias).to(weights.activations)
        stages.append(_Stage(read(embedding).to(weights.dense), linear(mapped), *norms, linear(head)))
    return MlpNetwork(layout, stages, weights.activations, device)


@dataclass(frozen=True)
class MlpDraft(TargetDraft[MlpLayout]):
    """An MLP speculator, which shares nothing with its target."""

    read_layout = staticmethod(read_mlp)
    kind = "block"
    by_levels = False
    # The paper's figures are of its own models. Medusa's stand here until replies have counted.
    published: ClassVar[Mapping[PromptKind, float]] = MedusaDraft.published

    @property
    def layers(self) -> int:
        """Number of levels."""
        return self.layout.levels

    @property
    def read_elements(self) -> int:
        """Elements of maps and heads of all levels; tied ones are read for each."""
        slots = [slot for stage in self.layout.stages for slot in stage if slot.field in ("map", "head")]
        return sum(slot.shape[0] * slot.shape[1] for slot in slots)

    def size_bytes(self, weights: WeightFormat, context: int, elsewhere: bool = False) -> int:
        """Return the bytes of its weights; it has no cache and shares nothing."""
        return sum(slot_bytes(slot, weights) for slot in self.layout.slots)

    def check(self, target: OpenedModel) -> None:
        """Check that hidden size and vocabulary are the target's."""
        check_sizes(self.layout.hidden_size, self.layout.vocabulary_size, target.config)

    def load(self, parts: DraftLoad) -> LoadedDraft:
        """Read the weights."""
        link = parts.link
        network = load_mlp(self.opened.head, parts.weights, link.device, parts.check)
        layers = parts.target.config.layers

        def new_text() -> DraftText:
            return MlpDrafter(network, layers, link).for_reply

        return LoadedDraft(self.name, self.kind, link, new_text)


class MlpDrafter(LastRowDrafter, LevelDrafter):
    """Drafts trees from the hidden state of the token before the root.

    Args:
        hidden_layer: As `LastRowDrafter` takes it.
        link: The way to the draft's device.
    """

    def __init__(self, network: MlpNetwork, hidden_layer: int, link: Link) -> None:
        LevelDrafter.__init__(self, network.layout.levels, {})
        LastRowDrafter.__init__(self, hidden_layer)
        self._network, self._link = network, link

    @torch.inference_mode()
    def propose(self, shape: DraftShape) -> Draft:
        """Draft a tree below the last observed token, dynamic or fixed."""
        if shape.rows < 1:
            return Draft()
        network, link = self._network, self._link
        first, state = network.run(0, link.to_device(torch.tensor(self._text[-1:])), self._last)

        def run(level: Level, before: Tensor) -> tuple[Tensor, Tensor]:
            return network.run(level.depth, link.to_device(torch.tensor(level.tokens)), before)

        return self._grown(shape, first[0], with_states(run, state, link.to_device))
