"""The published layouts of feature drafts: which one a checkpoint has, its sizes, and what its tensors are.

| layout | fusion | first block | head |
|---|---|---|---|
| EAGLE-1/2 | ``fc`` over [embedding; feature] | no norm before attention | the target's |
| Dovetail | ``W_1``, ``W_2``, ``W_z``, ``input_layernorm`` | the same | the target's |
| EAGLE-3 | ``fc`` over three layers' hidden states | ``midlayer``: attention over [embedding; feature] | its own |
| EAGLE-3.1 | the same, each layer's states normalised (``fc_norm``) | the same | the same |
| ModelOpt | as EAGLE-3 | ``layers.0`` | the same |
| speculators | as EAGLE-3, or as EAGLE-1 under other names | ``layers.0`` | as there |
| P-EAGLE | as EAGLE-3, ``mask_hidden`` in place of states that are not there yet | the same | the same |

EAGLE-3.1 may pass on its output after the final norm (``norm_output``) in place of the one before it. EAGLE-1 with
speculators' ``layernorms`` (of the embedding, before attention and before the head) does so: it takes the rows of
its target that the target's head maps too, and vLLM runs an EAGLE with a final norm this way.

If ``draft_vocab_size`` is smaller than the vocabulary, ``d2t`` names the tokens that are drafted, and ``t2d``, where it
is there, marks them: in EAGLE-3, and in what `engine.training` makes, whose head is the target's rows of these
tokens.

Sources: the papers' own code (cnets.py, cnets1.py), vllm-project/speculators for its format, EAGLE-3.1 and P-EAGLE, and
NVIDIA's Model-Optimizer (export/plugins/hf_spec_export.py).

A key of a draft's config.json that nothing here reads may change what the draft computes, so it is refused.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from engine.errors import ConfigInvalid, UnsupportedModel
from engine.families import SUPPORTED
from engine.model.config import ACTIVATIONS, ModelConfig, check_counts, translate
from engine.model.config_values import BAD_VALUE, complete
from engine.model.tensors import HARMLESS_SUFFIXES, Slot, compare_tensors, layer_slots
from engine.model.weight_format import WeightFormat
from engine.sentences import mark
from engine.weights.head_checkpoint import HeadCheckpoint

# Values of transformers' configs that say nothing about a forward: names, training, generation.
_HARMLESS = frozenset(
    (
        "architectures",
        "attention_dropout",
        "auto_map",
        "decoder_start_token_id",
        "dtype",
        "embed_requires_grad",
        "has_no_defaults_at_init",
        "id2label",
        "initializer_range",
        "label2id",
        "length_penalty",
        "max_anchors",
        "max_length",
        "max_window_layers",
        "model_max_length",
        "model_type",
        "name_or_path",
        "num_anchors",
        "num_beam_groups",
        "num_beams",
        "num_return_sequences",
        "pretraining_tp",
        "problem_type",
        "repetition_penalty",
        "return_dict",
        "speculators_config",
        "speculators_model_type",
        "speculators_version",
        "target_model_name_or_path",
        "target_model_type",
        "target_vocab_size",
        "temperature",
        "tie_word_embeddings",
        "tokenizer_class",
        "top_k",
        "top_p",
        "torch_dtype",
        "transformers_version",
        "typical_p",
        "use_cache",
        "verifier_attachment_mode",
    )
)
_HARMLESS_ENDS = ("_token_id", "_dropout", "_pdrop")
#: ``transformer_layer_config.model_type`` of the speculators' format.
_FAMILIES = {"llama": "LlamaForCausalLM", "qwen3": "Qwen3ForCausalLM"}
#: EAGLE's code uses this rotary base if config.json has none, whatever the target uses.
_ROPE_THETA = 10000.0
_READ = (
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "max_position_embeddings",
    "rms_norm_eps",
    "hidden_act",
    "vocab_size",
    "rope_theta",
    "rope_scaling",
    "rope_parameters",
    "attention_bias",
    "mlp_bias",
)
_WINDOW = ("layer_types", "sliding_window", "use_sliding_window")
#: Keys of a transformers config that are read.
KEYS = (*_READ, *_WINDOW)
_OWN_CODE = ("bias", "qkv_bias")
# Keys that a layout reads beside the blocks. They stand beside them if config.json nests no transformers config.
_OUTER = (
    "draft_vocab_size",
    "eagle_aux_hidden_state_layer_ids",
    "eagle_config",
    "fc_norm",
    "fusion_bias",
    "layernorms",
    "mask_token_id",
    "norm_before_fc",
    "norm_before_residual",
    "norm_output",
    "ptd_token_id",
    "target_hidden_size",
    "transformer_layer_architecture",
    "transformer_layer_config",
)
Kind = Literal["eagle", "dovetail", "eagle3"]

#: Keys of vLLM's format that only training needs.
_TRAINING_ONLY = ("verifier_norm.weight", "verifier_lm_head.weight")
MISMATCH = mark(
    "The draft's tensors are not those of any layout that Tenon reads, as its config.json has it: {problems}; choose "
    "another draft."
)
# Keys of ``eagle_config`` that are read, and the only value that Tenon runs of settings that have several.
_NESTED = (
    "eagle_aux_hidden_state_layer_ids",
    "fc_norm",
    "norm_before_fc",
    "norm_output",
    "parallel_draft_step",
)
_NESTED_VALUES = {
    "use_aux_hidden_state": True,
    "use_input_layernorm_in_first_layer": True,
    "use_last_layernorm": True,
    "use_mtp_layernorm": False,
    "next_layer_regular": True,
}


def check_keys(config: Mapping[str, Any], read: Collection[str]) -> None:
    """Refuse values that are set and that nothing reads.

    Args:
        config: config.json, or a part of it.
        read: Keys that are read.

    Raises:
        UnsupportedModel: Other keys are set; the error names them.
    """
    unknown = sorted(
        key
        for key, value in config.items()
        if value
        and key not in read
        and key not in _HARMLESS
        and not key.startswith("_")
        and (key == "mask_token_id" or not key.endswith(_HARMLESS_ENDS))
    )
    if unknown:
        raise UnsupportedModel(
            "The draft's config.json has {keys}, which Tenon does not know and which may change what the draft "
            "computes; choose another draft, or take that out if it says nothing about the computation.",
            keys=", ".join(unknown),
        )


def refuse(key: str, value: object) -> UnsupportedModel:
    """Return the error for a setting that Tenon does not run."""
    return UnsupportedModel(
        "The draft's config.json says {key} = {value}, which Tenon does not run; choose another draft.",
        key=key,
        value=value,
    )


def bad_value(error: Exception) -> ConfigInvalid:
    """Return the error for a value that is missing or makes no sense."""
    return ConfigInvalid(
        "A value in the draft's config.json is missing or of the wrong kind ({problem}); correct it, or choose "
        "another draft.",
        problem=str(error),
        details=repr(error),
    )


def block_config(
    raw: dict[str, Any], eagle3: bool, prefix: str, tensors: int, regular: bool = False
) -> tuple[ModelConfig, dict[str, Any]]:
    """Read the sizes of a draft's blocks.

    EAGLE's and Dovetail's code knows no biases but ``qkv_bias`` and, before EAGLE-3, no ``head_dim``; the
    speculators' format nests a transformers config, from which default values are left out. Windows are those that
    ``layer_types`` names.

    Args:
        raw: config.json as it is.
        eagle3: True if the layout is EAGLE-3's.
        prefix: Beginning of its tensors' names.
        tensors: Number of tensors.
        regular: True if the blocks are those of transformers though nothing is nested, as ModelOpt exports them.

    Returns:
        The config, and the part of config.json that it was read from.

    Raises:
        UnsupportedModel: A kind of draft, block or rotary embedding that Tenon does not run.
        ConfigInvalid: A value is missing or makes no sense.
    """
    speculators = raw.get("speculators_model_type")
    inner = raw if speculators is None else raw.get("transformer_layer_config")
    if speculators not in (None, "eagle", "eagle3", "peagle"):
        raise UnsupportedModel(
            "Tenon has no draft of the kind {speculators}; it runs EAGLE-1 to 3, P-EAGLE, DFlash, DSpark, "
            "IBM's MLP speculators and Dovetail's gated fusion.",
            speculators=speculators,
        )
    if not isinstance(inner, dict):
        raise ConfigInvalid("The draft's config.json describes no transformer layer; choose another draft.")
    for part in (raw, inner):
        check_keys(part, (*KEYS, *_OUTER, *_OWN_CODE))
    if speculators is not None or regular:
        model_type = "llama" if regular else str(inner.get("model_type", "llama"))
        return nested_config(inner, model_type, prefix, tensors), inner
    try:
        return _translate(inner, "llama", True, eagle3, prefix, tensors), inner
    except BAD_VALUE as error:
        raise bad_value(error) from error


def nested_config(inner: dict[str, Any], model_type: str, prefix: str, tensors: int) -> ModelConfig:
    """Read the sizes of blocks that are those of transformers.

    Args:
        inner: A transformers config, from which default values may be left out.
        prefix: Beginning of its tensors' names.
        tensors: Number of tensors.

    Raises:
        UnsupportedModel: A kind of block or rotary embedding that Tenon does not run.
        ConfigInvalid: A value is missing or makes no sense.
    """
    if model_type not in _FAMILIES:
        raise UnsupportedModel(
            "Tenon runs no draft with blocks of the type {model_type}; choose one with Llama's.",
            model_type=model_type,
        )
    try:
        return _translate(inner, model_type, False, False, prefix, tensors)
    except BAD_VALUE as error:
        raise bad_value(error) from error


def _translate(
    inner: dict[str, Any], model_type: str, own_code: bool, eagle3: bool, prefix: str, tensors: int
) -> ModelConfig:
    values = {name: inner[name] for name in _READ if inner.get(name) is not None}
    if own_code:
        for name in ("attention_bias", "mlp_bias", *(() if eagle3 else ("head_dim",))):
            values.pop(name, None)
        if "rope_parameters" not in values:
            values.setdefault("rope_theta", _ROPE_THETA)
    layers = int(values.pop("num_hidden_layers", 1))
    if own_code and eagle3:
        layers = 1
    check_counts(layers, tensors)
    config = complete({**values, "num_hidden_layers": layers}, model_type)
    if config["hidden_act"] not in ACTIVATIONS:
        raise UnsupportedModel(
            "Tenon has no activation {hidden_act}; choose another draft.", hidden_act=config["hidden_act"]
        )
    architecture = _FAMILIES[model_type]
    found = translate(architecture, (), config, SUPPORTED[architecture])
    if found.ropes[0].long_frequencies is not None:
        raise UnsupportedModel("Tenon has no draft with LongRoPE; choose another draft.")
    if len(found.ropes) > 1:
        raise UnsupportedModel("Tenon has no draft whose layers have different RoPE; choose another draft.")
    biased = bool(inner.get("qkv_bias", False)) if own_code else bool(config["attention_bias"])
    return replace(
        found,
        tied=False,
        qkv_bias=biased,
        output_bias=biased and not own_code,
        mlp_bias=False if own_code else bool(config["mlp_bias"]),
        windows=windows_of(inner, layers),
        tensor_prefix=prefix,
    )


def windows_of(inner: dict[str, Any], layers: int) -> tuple[int | None, ...]:
    """Return the window of each block, or None for the blocks that ``layer_types`` does not call sliding.

    Raises:
        UnsupportedModel: There is a window, and nothing says which blocks have it; or another kind of block.
    """
    window, kinds = inner.get("sliding_window"), inner.get("layer_types")
    if kinds is None:
        if window is not None and inner.get("use_sliding_window", True):
            raise refuse("sliding_window", window)
        return (None,) * layers
    if len(kinds) < layers:
        raise ValueError(f"layer_types names {len(kinds)} of {layers} layers")
    for kind in kinds[:layers]:
        if kind not in ("full_attention", "sliding_attention"):
            raise refuse("layer_types", kind)
    if "sliding_attention" not in kinds[:layers]:
        return (None,) * layers
    width = int(window or 0)
    if width < 1:
        raise ValueError(f"sliding_window is {window}")
    return tuple(width if kind == "sliding_attention" else None for kind in kinds[:layers])


@dataclass(frozen=True, kw_only=True)
class LayoutOfBlocks:
    """Contents of the checkpoint of a draft that has transformer blocks."""

    blocks: ModelConfig  # sizes of its blocks; ``vocabulary_size`` is the target's
    target_hidden_size: int  # width of the target's hidden states
    # Layers of the target whose inputs the draft takes; None for the layout's own choice
    hidden_layers: tuple[int, ...] | None = None
    outer: tuple[Slot, ...]  # tensors outside the blocks
    layers: tuple[tuple[Slot, ...], ...]  # tensors of each block
    draft_vocabulary_size: int  # tokens that it drafts

    @property
    def slots(self) -> tuple[Slot, ...]:
        """All tensors of the draft."""
        return (*self.outer, *(slot for slots in self.layers for slot in slots))

    def size_bytes(self, weight_format: WeightFormat) -> int:
        """Return the bytes of its own weights in memory, without those that it shares with its target."""
        return sum(slot_bytes(slot, weight_format) for slot in self.slots)

    def layers_of(self, target_layers: int) -> tuple[int, ...]:
        """Return the indices of the hidden rows that the draft takes from a target of this many layers.

        If the checkpoint names none, they are the inputs of a low, a middle and a high layer.
        """
        return self.hidden_layers or (2, target_layers // 2, target_layers - 3)


@dataclass(frozen=True, kw_only=True)
class HeadLayout(LayoutOfBlocks):
    """Contents of a feature draft's checkpoint."""

    kind: Kind  # kind of fusion: eagle (EAGLE-1/2), dovetail or eagle3
    norm_before_residual: bool  # setting of EAGLE-3: see `Eagle3Fusion`
    # True if the feature that it passes on is its output after the final norm (EAGLE-3.1, EAGLE-1 with norms)
    norm_output: bool = False
    # Token of P-EAGLE in place of those that are not there yet; None for drafts that grow level by level
    mask_token: int | None = None
    depths: int = 1  # tokens of a forward of P-EAGLE

    def size_bytes(self, weight_format: WeightFormat) -> int:
        """Return the bytes of its own weights in memory, without those that it shares with its target."""
        total = super().size_bytes(weight_format)
        if self.draft_vocabulary_size < self.blocks.vocabulary_size and self.kind != "eagle3":
            # The target's rows of the drafted tokens, which are read for each token.
            total += weight_format.matrix_bytes(self.draft_vocabulary_size, self.blocks.hidden_size)
        return total

    def layers_of(self, target_layers: int) -> tuple[int, ...]:
        """Return the indices of the hidden rows that it takes: EAGLE-1/2 and Dovetail take the input of the head."""
        own = self.kind != "eagle3" and self.hidden_layers is None
        return (target_layers,) if own else super().layers_of(target_layers)


def slot_bytes(slot: Slot, weight_format: WeightFormat) -> int:
    """Return the bytes of one tensor of a draft in memory."""
    if len(slot.shape) != 2:
        return math.prod(slot.shape) * 4
    if slot.field == "embedding":
        return slot.shape[0] * slot.shape[1] * weight_format.dense.itemsize
    return weight_format.slot_bytes(slot)


def _kind(names: Mapping[str, Any], config: Mapping[str, Any]) -> Kind | None:
    bare = {name.removeprefix("model.") for name in names}
    if "speculators_model_type" in config:
        return "eagle" if config["speculators_model_type"] == "eagle" else "eagle3"
    if bare & {"W_1", "W_2", "W_z"}:
        return "dovetail"
    # A whole model has a norm before its first attention.
    blocks = "layers.0.self_attn.q_proj.weight" in bare and "layers.0.input_layernorm.weight" not in bare
    if bare & {"layers.0.hidden_norm.weight", "mask_hidden"}:
        return "eagle3"
    if any(name.startswith("midlayer.") for name in bare) or ("draft_vocab_size" in config and not blocks):
        return "eagle3"
    return "eagle" if bare & {"fc.weight", "fc.bias"} or blocks else None


def read_layout(checkpoint: HeadCheckpoint) -> HeadLayout:
    """Recognise a checkpoint's layout and check its tensors.

    Raises:
        UnsupportedModel: The checkpoint is a whole model, or a draft of a kind that Tenon does not run.
        ConfigInvalid: A value of config.json is missing or makes no sense.
        TensorMismatch: A tensor is missing, unexpected or of the wrong shape.
    """
    raw, names = checkpoint.config, checkpoint.shapes
    kind = _kind(names, raw)
    if kind is None:
        raise UnsupportedModel(
            "The folder {folder} holds a whole model and no draft head: choose a folder with an "
            "EAGLE, Dovetail or speculators head.",
            folder=checkpoint.folder,
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
    speculators = "speculators_model_type" in raw
    numbered = any(name.startswith(f"{prefix}layers.0.") for name in names)
    regular = kind == "eagle3" and not speculators and numbered
    blocks, inner = block_config(raw, kind == "eagle3", prefix, len(names), regular)
    hidden = blocks.hidden_size
    normed = kind == "eagle" and speculators and bool(raw.get("layernorms"))
    try:
        settings = _settings(raw)
        target_hidden = int(raw.get("target_hidden_size") or hidden)
        own = int(raw.get("draft_vocab_size") or inner.get("draft_vocab_size") or blocks.vocabulary_size)
        chosen = _hidden_layers(raw)
        mask_token, depths = _mask(raw, f"{prefix}mask_hidden" in names)
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        raise bad_value(error) from error
    taken = len(chosen) if chosen is not None else (3 if kind == "eagle3" else 1)
    outer = embedding_and_head(names, prefix, blocks, own, head_needed=kind == "eagle3")
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
    if normed:
        outer += [
            Slot(f"{prefix}embedding_layernorm.weight", (hidden,), "token_norm"),
            Slot(f"{prefix}pre_lm_head_layernorm.weight", (hidden,), "final_norm"),
        ]
    if kind == "eagle3":
        outer.append(Slot(f"{prefix}norm.weight", (hidden,), "final_norm"))
        if settings["norm_before_fc"]:
            outer.append(Slot(f"{prefix}input_norm.weight", (taken * target_hidden,), "target_norm.0"))
        if settings["fc_norm"]:
            outer += [
                Slot(f"{prefix}fc_norm.{index}.weight", (target_hidden,), f"target_norm.{index}")
                for index in range(taken)
            ]
        if mask_token is not None:
            shape = names.get(f"{prefix}mask_hidden", ())
            wanted = (*(1 for _ in shape[:-1]), taken * target_hidden) if shape else (1, 1, taken * target_hidden)
            outer.append(Slot(f"{prefix}mask_hidden", wanted, "mask_hidden"))
    layers = [list(layer_slots(blocks, index)) for index in range(blocks.layers)]
    layers[0] = _first_block(layers[0], blocks, kind, speculators or regular, normed)
    return HeadLayout(
        kind=kind,
        blocks=blocks,
        target_hidden_size=target_hidden,
        hidden_layers=chosen,
        draft_vocabulary_size=own,
        norm_before_residual=bool(raw.get("norm_before_residual", False)),
        outer=tuple(outer),
        layers=tuple(tuple(slots) for slots in layers),
        norm_output=settings["norm_output"] or normed,
        mask_token=mask_token,
        depths=depths,
    )


def _settings(raw: Mapping[str, Any]) -> dict[str, bool]:
    """Return the norms that config.json switches on, beside the sizes or in ``eagle_config``."""
    nested = raw.get("eagle_config") or {}
    check_keys(nested, (*_NESTED, *_NESTED_VALUES, "parallel_draft_heads_num_layers"))
    for key, wanted in _NESTED_VALUES.items():
        if nested.get(key) not in (None, wanted):
            raise refuse(f"eagle_config.{key}", nested[key])
    if int(nested.get("parallel_draft_step") or 1) > 1:
        raise refuse("eagle_config.parallel_draft_step", nested["parallel_draft_step"])
    found = {key: bool(raw.get(key) or nested.get(key)) for key in ("fc_norm", "norm_before_fc", "norm_output")}
    if found["fc_norm"] and found["norm_before_fc"]:
        raise ValueError("fc_norm and norm_before_fc are both true")
    return found


def _mask(raw: Mapping[str, Any], there: bool) -> tuple[int | None, int]:
    """Return P-EAGLE's mask token and the tokens of a forward; None and 1 for other layouts."""
    if raw.get("speculators_model_type") != "peagle" and not there:
        for key in ("mask_token_id", "ptd_token_id"):
            if raw.get(key) is not None:
                raise refuse(key, raw[key])
        return None, 1
    token = raw.get("mask_token_id", raw.get("ptd_token_id"))
    if token is None:
        raise ValueError("mask_token_id is missing")
    methods = (raw.get("speculators_config") or {}).get("proposal_methods") or [{}]
    # The default of speculators' training, if nothing is said.
    depths = int(methods[0].get("speculative_tokens") or 8)
    if not 1 <= depths <= 1024:
        raise ValueError(f"speculative_tokens is {depths}")
    return int(token), depths


def _hidden_layers(raw: Mapping[str, Any]) -> tuple[int, ...] | None:
    """Return the layers whose inputs config.json names. SpecForge and ModelOpt name outputs, one layer earlier."""
    named = raw.get("eagle_aux_hidden_state_layer_ids")
    if named:
        return tuple(int(layer) for layer in named)
    outputs = (raw.get("eagle_config") or {}).get("eagle_aux_hidden_state_layer_ids")
    return tuple(int(layer) + 1 for layer in outputs) if outputs else None


def embedding_and_head(
    names: Mapping[str, tuple[int, ...]], prefix: str, blocks: ModelConfig, own: int, head_needed: bool
) -> list[Slot]:
    """Return the slots of embedding and head, which may be left to the target, and of the list of drafted tokens.

    Args:
        names: Names and shapes of the checkpoint's tensors.
        prefix: Beginning of the names.
        blocks: Sizes.
        own: Tokens that are drafted.
        head_needed: True if the head must be there, as in EAGLE-3.
    """
    slots = []
    if f"{prefix}embed_tokens.weight" in names:
        table = (blocks.vocabulary_size, blocks.hidden_size)
        slots.append(Slot(f"{prefix}embed_tokens.weight", table, "embedding"))
    bare = "lm_head.weight"
    head = f"{prefix}{bare}" if f"{prefix}{bare}" in names else bare
    if head_needed or head in names:
        slots.append(Slot(head, (own, blocks.hidden_size), "head"))
    # With the whole vocabulary they may be there and say nothing; d2t alone says which tokens are drafted.
    for name, size in (("d2t", own), ("t2d", blocks.vocabulary_size)):
        stored = f"{prefix}{name}" if f"{prefix}{name}" in names else name
        if stored in names or (name == "d2t" and own != blocks.vocabulary_size):
            slots.append(Slot(stored, (size,), name))
    return slots


def _first_block(slots: list[Slot], blocks: ModelConfig, kind: Kind, numbered: bool, normed: bool) -> list[Slot]:
    if kind != "eagle3":
        kept = [slot for slot in slots if normed or slot.field != "attention_norm"]
        if not numbered:
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
    if numbered:
        return found
    midlayer = f"{blocks.tensor_prefix}midlayer."
    return [replace(slot, name=slot.name.replace(start, midlayer, 1)) for slot in found]
