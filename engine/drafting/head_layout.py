"""The published layouts of feature drafts: which one a checkpoint has, its sizes, and what its tensors are.

| layout | fusion | first block | head |
|---|---|---|---|
| EAGLE-1/2 | ``fc`` over [embedding; feature] | no norm before attention | the target's |
| Dovetail | ``W_1``, ``W_2``, ``W_z``, ``input_layernorm`` | the same | the target's |
| EAGLE-3 | ``fc`` over three layers' hidden states | ``midlayer``: attention over [embedding; feature] | its own |
| speculators | as EAGLE-3, or as EAGLE-1 under other names | ``layers.0`` | as there |

If ``draft_vocab_size`` is smaller than the vocabulary, ``d2t`` and ``t2d`` name the tokens that are drafted: in
EAGLE-3, and in what `engine.training.draft` makes, whose head is the target's rows of these tokens.

Sources: the papers' own code (cnets.py, cnets1.py), and vllm-project/speculators for its format.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from engine.drafting.head_config import block_config
from engine.errors import ConfigInvalid, UnsupportedModel
from engine.model.config import ModelConfig
from engine.model.tensors import HARMLESS_SUFFIXES, Slot, compare_tensors, layer_slots
from engine.model.weight_format import WeightFormat
from engine.sentences import mark, say
from engine.weights.head_checkpoint import HeadCheckpoint

Kind = Literal["eagle", "dovetail", "eagle3"]

#: What vLLM's format keeps for training alone.
_TRAINING_ONLY = ("verifier_norm.weight", "verifier_lm_head.weight")
MISMATCH = mark(
    "The draft's weights do not match its config.json, tensors are {problems}; download the draft again."
)


@dataclass(frozen=True)
class HeadLayout:
    """Contents of a feature draft's checkpoint.

    Attributes:
        kind: Its fusion: eagle (EAGLE-1/2), dovetail or eagle3.
        blocks: Sizes of its blocks; ``vocabulary_size`` is the target's.
        target_hidden_size: Width of the target's hidden states.
        hidden_layers: Whose inputs it takes, None for the layout's own choice.
        draft_vocabulary_size: Tokens that it drafts.
        norm_before_residual: EAGLE-3: see `Eagle3Fusion`.
        outer: Its tensors outside the blocks.
        layers: Those of each block.
    """

    kind: Kind
    blocks: ModelConfig
    target_hidden_size: int
    hidden_layers: tuple[int, ...] | None
    draft_vocabulary_size: int
    norm_before_residual: bool
    outer: tuple[Slot, ...]
    layers: tuple[tuple[Slot, ...], ...]

    def layers_of(self, target_layers: int) -> tuple[int, ...]:
        """The target's hidden rows that this draft takes, for a target of this many layers.

        EAGLE-1/2 and Dovetail take what the head maps; EAGLE-3 a low, a middle and a high layer's input.
        """
        if self.hidden_layers is not None:
            return self.hidden_layers
        if self.kind != "eagle3":
            return (target_layers,)
        return (2, target_layers // 2, target_layers - 3)


def head_bytes(layout: HeadLayout, weight_format: WeightFormat) -> int:
    """Bytes of a draft's own weights in memory; what it shares with its target is not counted."""
    slots = (*layout.outer, *(slot for slots in layout.layers for slot in slots))
    total = sum(slot_bytes(slot, weight_format) for slot in slots)
    if layout.draft_vocabulary_size < layout.blocks.vocabulary_size and layout.kind != "eagle3":
        # The target's rows of what it drafts, which are read for each of its tokens.
        total += weight_format.matrix_bytes(layout.draft_vocabulary_size, layout.blocks.hidden_size)
    return total


def slot_bytes(slot: Slot, weight_format: WeightFormat) -> int:
    """Bytes of one tensor of a draft in memory."""
    if len(slot.shape) == 1:
        return slot.shape[0] * 4
    if slot.field == "embedding":
        return slot.shape[0] * slot.shape[1] * weight_format.dense.itemsize
    return weight_format.matrix_bytes(*slot.shape)


def _kind(names: Mapping[str, Any], config: Mapping[str, Any]) -> Kind | None:
    bare = {name.removeprefix("model.") for name in names}
    if "speculators_model_type" in config:
        return "eagle" if config["speculators_model_type"] == "eagle" else "eagle3"
    if bare & {"W_1", "W_2", "W_z"}:
        return "dovetail"
    # A whole model has a norm before its first attention.
    blocks = "layers.0.self_attn.q_proj.weight" in bare and "layers.0.input_layernorm.weight" not in bare
    if any(name.startswith("midlayer.") for name in bare) or ("draft_vocab_size" in config and not blocks):
        return "eagle3"
    return "eagle" if bare & {"fc.weight", "fc.bias"} or blocks else None


def read_layout(checkpoint: HeadCheckpoint) -> HeadLayout:
    """Recognise a checkpoint's layout and check its tensors.

    Raises:
        UnsupportedModel: It is a whole model, or a draft of a kind that Tenon does not run.
        ConfigInvalid: A value of config.json is missing or makes no sense.
        TensorMismatch: A tensor is missing, unexpected or of the wrong shape.
    """
    raw, names = checkpoint.config, checkpoint.shapes
    kind = _kind(names, raw)
    if kind is None:
        raise UnsupportedModel(
            say(
                "The folder {folder} holds a whole model and no draft head: choose a folder with an "
                "EAGLE, Dovetail or speculators head.",
                folder=checkpoint.folder,
            )
        )
    layout = _read(raw, names, kind)
    expected = {slot.name: slot.shape for slot in layout.outer}
    expected |= {slot.name: slot.shape for slots in layout.layers for slot in slots}
    compare_tensors(
        names,
        expected,
        lambda name: name.endswith(HARMLESS_SUFFIXES) or name in _TRAINING_ONLY,
        MISMATCH,
    )
    return layout


def _read(raw: dict[str, Any], names: Mapping[str, tuple[int, ...]], kind: Kind) -> HeadLayout:
    prefix = "model." if any(name.startswith(("model.layers.", "model.midlayer.")) for name in names) else ""
    blocks, inner = block_config(raw, kind == "eagle3", prefix)
    hidden = blocks.hidden_size
    speculators = "speculators_model_type" in raw
    if speculators and raw.get("layernorms"):
        raise UnsupportedModel(
            say(
                "This draft has the extra layernorms of speculators' eagle format, which Tenon "
                "cannot run; choose an EAGLE-3 draft."
            )
        )
    try:
        target_hidden = int(raw.get("target_hidden_size") or hidden)
        own = int(raw.get("draft_vocab_size") or inner.get("draft_vocab_size") or blocks.vocabulary_size)
        chosen = _hidden_layers(raw)
    except (TypeError, ValueError, AttributeError) as error:
        raise ConfigInvalid(
            say("A value in the draft's config.json is of the wrong kind; download it again."),
            details=repr(error),
        ) from error
    taken = len(chosen) if chosen is not None else (3 if kind == "eagle3" else 1)
    outer = _embedding_and_head(names, prefix, blocks, own, kind)
    if kind == "dovetail":
        outer += [
            Slot(f"{prefix}W_1", (hidden, hidden), "feature_map"),
            Slot(f"{prefix}W_2", (hidden, hidden), "token_map"),
            Slot(f"{prefix}W_z", (2 * hidden, hidden), "gate_map"),
            Slot(f"{prefix}input_layernorm.weight", (hidden,), "token_norm"),
        ]
    else:
        fc = "fusion_fc" if speculators and kind == "eagle" else "fc"
        columns = 2 * hidden if kind == "eagle" else taken * target_hidden
        outer.append(Slot(f"{prefix}{fc}.weight", (hidden, columns), "fc"))
        biased = raw.get("fusion_bias", False) if speculators else raw.get("bias", True)
        if biased if kind == "eagle" else f"{prefix}fc.bias" in names:
            outer.append(Slot(f"{prefix}{fc}.bias", (hidden,), "fc_bias"))
    if kind == "eagle3":
        outer.append(Slot(f"{prefix}norm.weight", (hidden,), "final_norm"))
        if raw.get("norm_before_fc"):
            outer.append(Slot(f"{prefix}input_norm.weight", (taken * target_hidden,), "target_norm"))
    layers = [layer_slots(blocks, index) for index in range(blocks.layers)]
    layers[0] = _first_block(layers[0], blocks, kind, speculators)
    return HeadLayout(
        kind=kind,
        blocks=blocks,
        target_hidden_size=target_hidden,
        hidden_layers=chosen,
        draft_vocabulary_size=own,
        norm_before_residual=bool(raw.get("norm_before_residual", False)),
        outer=tuple(outer),
        layers=tuple(tuple(slots) for slots in layers),
    )


def _hidden_layers(raw: Mapping[str, Any]) -> tuple[int, ...] | None:
    """Layers whose inputs config.json names. SpecForge writes outputs, which are the next layers' inputs."""
    named = raw.get("eagle_aux_hidden_state_layer_ids")
    if named:
        return tuple(int(layer) for layer in named)
    outputs = (raw.get("eagle_config") or {}).get("eagle_aux_hidden_state_layer_ids")
    return tuple(int(layer) + 1 for layer in outputs) if outputs else None


def _embedding_and_head(
    names: Mapping[str, tuple[int, ...]], prefix: str, blocks: ModelConfig, own: int, kind: Kind
) -> list[Slot]:
    """The embedding, which may be left to the target, and the head, which must be there in EAGLE-3 alone."""
    slots = []
    if f"{prefix}embed_tokens.weight" in names:
        table = (blocks.vocabulary_size, blocks.hidden_size)
        slots.append(Slot(f"{prefix}embed_tokens.weight", table, "embedding"))
    bare = "lm_head.weight"
    head = f"{prefix}{bare}" if f"{prefix}{bare}" in names else bare
    if kind == "eagle3" or head in names:
        slots.append(Slot(head, (own, blocks.hidden_size), "head"))
    # With the whole vocabulary they are there or not, and say nothing.
    for name, size in (("d2t", own), ("t2d", blocks.vocabulary_size)):
        if own != blocks.vocabulary_size or (kind == "eagle3" and name in names):
            slots.append(Slot(f"{prefix}{name}", (size,), name))
    return slots


def _first_block(slots: list[Slot], blocks: ModelConfig, kind: Kind, speculators: bool) -> list[Slot]:
    if kind != "eagle3":
        kept = [slot for slot in slots if slot.field != "attention_norm"]
        if not speculators:
            return kept
        return [replace(slot, name=slot.name.replace("layers.0.", "transformer.", 1)) for slot in kept]
    found = []
    for slot in slots:
        if slot.field == "attention_norm":
            slot = replace(slot, field="embedding_norm")
        elif slot.field == "qkv":
            slot = replace(slot, shape=(slot.shape[0], 2 * blocks.hidden_size))
        found.append(slot)
    start = f"{blocks.tensor_prefix}layers.0."
    found.append(Slot(f"{start}hidden_norm.weight", (blocks.hidden_size,), "feature_norm"))
    if speculators:
        return found
    midlayer = f"{blocks.tensor_prefix}midlayer."
    return [replace(slot, name=slot.name.replace(start, midlayer, 1)) for slot in found]
