"""Prompt tokens: trained embeddings that ask a model what comes further on, some kilobytes beside it.

The embedding at distance i, put in the place of the i-th token behind a text, makes the model say which token follows
that one. Several members of an ensemble may stand in each place; what the model says after them is averaged.

Source: "Hardware-Aware Parallel Prompt Decoding" (Chen et al. 2024), and the report of the same name, chapter 4. The
folders are those of its own code: adapter_config.json as PEFT writes it for prompt tuning, and one tensor, whose rows
are the members of the first place, then those of the second. Its attention masks are taken as the report draws them:
the code's encoder-like mask sees no nearer place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from engine.drafting.dynamic_tree import DEEPEST
from engine.drafting.head_loader import check_sizes
from engine.errors import ConfigInvalid, DraftMismatch
from engine.model.config import ModelConfig
from engine.model.tensors import compare_tensors
from engine.model.token_tree import PROBE_MASKS, ROOT, ProbeMask, Probes
from engine.sentences import either, mark
from engine.weights.head_checkpoint import HeadCheckpoint

#: The tensor's name, as PEFT writes it.
TENSOR = "prompt_embeddings"
#: Most members of an ensemble: a node and its probe, and the root's probe, within the 64 rows of a draft.
MOST_MEMBERS = 31
# Draft shapes whose probes are kept: a mode follows some trees again and again, and shapes of their own are many.
_MOST_KNOWN = 256
# What the same code trains on request, its name and the value of a set without it. The report finds that each of them
# guesses worse, or hardly better, and leaves them out (sections 6.8.5, 6.8.6, 6.8.8 and 6.8.9).
_EXTENSIONS = {
    "use_prefix_tuning": False,
    "use_custom_lm_head": False,
    "aggregation_type": "mean",
    "num_exits": 1,
}
_MISMATCH = mark(
    "The tensors of the prompt tokens do not match their adapter_config.json: {problems}; choose another set."
)


@dataclass(frozen=True)
class PromptTokenLayout:
    """Contents of a checkpoint of prompt tokens.

    Attributes:
        count: Places, m: the tokens behind the next one that are guessed.
        members: Of each place's ensemble, n.
        hidden_size: The target's.
        layers: Of the target; None where nothing says it.
        heads: Of its attention, likewise.
        mask: Who sees whom.
    """

    count: int
    members: int
    hidden_size: int
    layers: int | None
    heads: int | None
    mask: ProbeMask

    @property
    def size_bytes(self) -> int:
        """Bytes of the embeddings in memory."""
        return self.count * self.members * self.hidden_size * 4


@dataclass(frozen=True)
class PromptTokens:
    """Prompt tokens in memory.

    Attributes:
        embeddings: (m, n, h) float32: of each place, nearest first, and each member of its ensemble.
        mask: Who sees whom.
    """

    embeddings: Tensor
    mask: ProbeMask = "ensemble"
    _known: dict[tuple[int, ...], Probes] = field(default_factory=dict, init=False, compare=False)

    @property
    def count(self) -> int:
        """Places, m."""
        return len(self.embeddings)

    @property
    def members(self) -> int:
        """Of each place, n."""
        return self.embeddings.shape[1]

    def behind(self, reaches: Sequence[int]) -> Probes:
        """Probes of the root and of each node, in this order, given how far each of them asks: places from the nearest.

        Args:
            reaches: (N + 1,) for a draft of N nodes, each m at most.
        """
        asked = tuple(reaches)
        if asked not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            rows = [
                (node, place, member)
                for node, reach in enumerate(asked, ROOT)
                for place in range(reach)
                for member in range(self.members)
            ]
            nodes, places, members = zip(*rows, strict=True) if rows else ((), (), ())
            embeddings = self.embeddings[list(places), list(members)]
            distances = tuple(place + 1 for place in places)
            self._known[asked] = Probes(nodes, distances, members, embeddings, self.mask)
        return self._known[asked]

    def average(self, logits: Tensor) -> Tensor:
        """(k * n, V) logits after the probes of one node as (k, V), one for each place."""
        return logits if self.members == 1 else logits.view(-1, self.members, logits.shape[-1]).mean(1)


def read_prompt_tokens(checkpoint: HeadCheckpoint) -> PromptTokenLayout:
    """Places and members by the config, whose sizes must be the tensor's.

    Raises:
        ConfigInvalid: A value of the config makes no sense, or asks for what Tenon does not run.
        TensorMismatch: The tensor is missing, or of another shape.
    """
    config = checkpoint.config
    for name, without in _EXTENSIONS.items():
        if config.get(name, without) != without:
            raise ConfigInvalid(
                "These prompt tokens were trained with {name} = {value}, which Tenon does not run: choose a set "
                "that was trained without it.",
                name=name,
                value=config[name],
            )
    mask = config.get("vt_attention_type", "decoder")
    if mask not in PROBE_MASKS:
        raise ConfigInvalid(
            "These prompt tokens were trained with an attention mask named {mask}, and Tenon knows {masks}: "
            "choose another set.",
            mask=repr(mask),
            masks=either(PROBE_MASKS),
        )
    count = _size(config, "num_special_tokens", None, DEEPEST)
    members = _size(config, "virtual_tokens_per_special_token", 1, MOST_MEMBERS)
    hidden = _size(config, "token_dim", next(iter(checkpoint.shapes.get(TENSOR, ())[1:]), None), None)
    layers, heads = (
        None if config.get(name) is None else _size(config, name, None, None)
        for name in ("num_layers", "num_attention_heads")
    )
    compare_tensors(checkpoint.shapes, {TENSOR: (count * members, hidden)}, lambda name: False, _MISMATCH)
    return PromptTokenLayout(count, members, hidden, layers, heads, mask)


def check_prompt_tokens(layout: PromptTokenLayout, model: ModelConfig) -> None:
    """Refuse those of another model.

    Raises:
        DraftMismatch: They have another hidden size, or were trained for other numbers of layers or attention heads.
    """
    check_sizes(layout.hidden_size, model.vocabulary_size, model)
    layers, heads = layout.layers or model.layers, layout.heads or model.heads
    if (layers, heads) != (model.layers, model.heads):
        raise DraftMismatch(
            "The prompt tokens are for a model of {wanted_layers} layers and {wanted_heads} attention heads, and "
            "this one has {layers} and {heads}; choose a set that was trained for this model.",
            wanted_layers=layers,
            wanted_heads=heads,
            layers=model.layers,
            heads=model.heads,
        )


def load_prompt_tokens(checkpoint: HeadCheckpoint) -> PromptTokens:
    """The embeddings themselves.

    Raises:
        ConfigInvalid: As in `read_prompt_tokens`.
        TensorMismatch: Likewise.
    """
    layout = read_prompt_tokens(checkpoint)
    rows = checkpoint.tensor(TENSOR).to(torch.float32)
    return PromptTokens(rows.view(layout.count, layout.members, layout.hidden_size), layout.mask)


def _size(config: dict[str, Any], name: str, usual: int | None, most: int | None) -> int:
    value = config.get(name, usual)
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= (most or value):
        return value
    if most is None:
        raise ConfigInvalid(
            "{name} in the prompt tokens' adapter_config.json is {value}, and must be a whole number of 1 or "
            "more; correct it, or choose another set.",
            name=name,
            value=repr(value),
        )
    raise ConfigInvalid(
        "{name} in the prompt tokens' adapter_config.json is {value}, and Tenon runs 1 to {most}: choose another "
        "set.",
        name=name,
        value=repr(value),
        most=most,
    )
