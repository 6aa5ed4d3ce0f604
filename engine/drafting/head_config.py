"""The blocks' sizes from a draft head's config.json, with the defaults that its own code has."""

from __future__ import annotations

from typing import Any

from engine.drafting.config_keys import bad_value, check_keys, refuse
from engine.errors import ConfigInvalid, UnsupportedModel
from engine.model.config import ACTIVATIONS, ModelConfig, check_counts
from engine.model.config_values import BAD_VALUE, complete
from engine.model.families import SUPPORTED
from engine.model.rope import read_rope

#: ``transformer_layer_config.model_type`` of the speculators' format.
_FAMILIES = {"llama": "LlamaForCausalLM", "qwen3": "Qwen3ForCausalLM"}
#: EAGLE's code turns by this where config.json says nothing, whatever the target turns by.
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
# What a layout reads beside the blocks: it stands beside them where config.json does not nest a transformers config.
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


def block_config(
    raw: dict[str, Any], eagle3: bool, prefix: str, tensors: int, regular: bool = False
) -> tuple[ModelConfig, dict[str, Any]]:
    """Sizes of a draft's blocks.

    EAGLE's and Dovetail's code knows no biases but ``qkv_bias`` and, before EAGLE-3, no ``head_dim``; the
    speculators' format nests a transformers config, from which default values are left out. Windows are those that
    ``layer_types`` names.

    Args:
        raw: config.json as it is.
        eagle3: The layout is EAGLE-3's.
        prefix: Beginning of its tensors' names.
        tensors: Their number.
        regular: The blocks are those of transformers though nothing is nested, as ModelOpt exports them.

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
    """Sizes of blocks that are those of transformers.

    Args:
        inner: A transformers config, from which default values may be left out.
        model_type: Its kind.
        prefix: Beginning of its tensors' names.
        tensors: Their number.

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
    config = complete(values, model_type)
    rope = read_rope(config, None, partial=False)
    if rope.long_frequencies is not None:
        raise UnsupportedModel("Tenon has no draft with LongRoPE; choose another draft.")
    activation = config["hidden_act"]
    if activation not in ACTIVATIONS:
        raise UnsupportedModel(
            "Tenon has no activation {hidden_act}; choose another draft.", hidden_act=activation
        )
    heads, kv_heads, head_dim = (
        int(config[name]) for name in ("num_attention_heads", "num_key_value_heads", "head_dim")
    )
    if heads % kv_heads or head_dim % 2 or min(heads, head_dim, layers) < 1:
        raise ValueError(f"{heads} heads, {kv_heads} key-value heads, head_dim {head_dim}, {layers} layers")
    biased = bool(inner.get("qkv_bias", False)) if own_code else bool(config["attention_bias"])
    return ModelConfig(
        architecture=_FAMILIES[model_type],
        family=SUPPORTED[_FAMILIES[model_type]],
        hidden_size=int(config["hidden_size"]),
        layers=layers,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        intermediate_size=int(config["intermediate_size"]),
        vocabulary_size=int(config["vocab_size"]),
        context_length=int(config["max_position_embeddings"]),
        norm_epsilon=float(config["rms_norm_eps"]),
        activation=ACTIVATIONS[activation],
        attention_scale=head_dim**-0.5,
        attention_soft_cap=None,
        logit_soft_cap=None,
        embedding_scale=None,
        tied=False,
        qkv_bias=biased,
        output_bias=biased and not own_code,
        mlp_bias=False if own_code else bool(config["mlp_bias"]),
        windows=windows_of(inner, layers),
        ropes=(rope,),
        layer_ropes=(0,) * layers,
        tensor_prefix=prefix,
    )


def windows_of(inner: dict[str, Any], layers: int) -> tuple[int | None, ...]:
    """The window of each block: those that ``layer_types`` says slide have one.

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
