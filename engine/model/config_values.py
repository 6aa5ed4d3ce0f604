"""config.json as a model's own code reads it, with defaults for missing values and with older spellings.

Source: the config classes of transformers 5, models/*/configuration_*.py and modeling_rope_utils.py, with which a
test compares this. Reading a dictionary here takes none of the seconds that importing transformers does.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any

from engine.families import VALUES
from engine.families.family import Values

_SHARED: dict[str, Any] = {
    "hidden_act": "silu",
    "attention_bias": False,
    "mlp_bias": False,
    "sliding_window": None,
    "layer_types": None,
    "tie_word_embeddings": False,
    "rope_theta": 10_000.0,
}
#: Names of the same number in other families.
_EXPERT_COUNTS = ("num_local_experts", "n_routed_experts")
_CHOSEN_COUNTS = ("top_k_experts",)
#: Errors raised if a value is missing, of the wrong kind or makes no sense.
BAD_VALUE = (
    *(AttributeError, KeyError, TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError),
    RuntimeError,  # torch's, for numbers that it cannot compute with
)
#: Far beyond every existing model: a damaged number must not become a list of that many entries, or a NaN.
_RANGES: dict[str, tuple[float, float]] = {
    key: (least, most)
    for least, most, keys in (
        (1, 10_000, "num_hidden_layers sliding_window_pattern no_rope_layer_interval decoder_sparse_step"),
        (0, 10_000, "num_kv_shared_layers first_k_dense_replace"),
        (
            1,
            1 << 16,
            "num_attention_heads num_key_value_heads head_dim global_head_dim v_head_dim n_group topk_group",
        ),
        (
            1,
            1 << 16,
            "num_global_key_value_heads kv_lora_rank qk_nope_head_dim",
        ),
        (0, 1 << 16, "num_experts num_experts_per_tok"),
        (2, 1 << 16, "qk_rope_head_dim"),
        (1, 1 << 20, "hidden_size q_lora_rank block_multiple_of"),
        (0, 1 << 20, "hidden_size_per_layer_input"),
        (1, 1 << 24, "intermediate_size moe_intermediate_size"),
        (0, 1 << 24, "shared_expert_intermediate_size"),
        (0, 1 << 10, "n_shared_experts"),
        (1, 1 << 28, "vocab_size"),
        (0, 1 << 28, "vocab_size_per_layer_input"),
        (1, 1 << 31, "max_position_embeddings sliding_window"),
        (2, 64, "conv_L_cache linear_conv_kernel_dim"),
        (1, 1 << 13, "linear_key_head_dim linear_value_head_dim linear_num_key_heads linear_num_value_heads"),
        (2, 64, "mamba_d_conv"),
        (1, 1 << 13, "mamba_n_heads mamba_n_groups mamba_d_state"),
        (1, 64, "mamba_expand"),
        (1, 10_000, "full_attention_interval"),
        (0.0, 1.0, "rms_norm_eps post_norm_eps"),
        (1e-3, 1.0, "partial_rotary_factor"),
        (1e-3, 1e3, "block_ffn_dim_multiplier"),
        (1e-3, 1e9, "query_pre_attn_scalar attn_logit_softcapping final_logit_softcapping"),
        (1e-3, 1e15, "rope_theta rope_local_base_freq"),
        (1e-6, 1e6, "embedding_multiplier attention_multiplier residual_multiplier logits_scaling"),
        (1e-6, 1e6, "output_multiplier qk_scale_factor"),
    )
    for key in keys.split()
}
#: Keys that may be null beside those whose default is null.
_NULLABLE = frozenset(
    (
        "num_key_value_heads",
        "sliding_window",
        "q_lora_rank",
        "final_logit_softcapping",
        "attn_logit_softcapping",
    )
)
_FULL, _SLIDING = "full_attention", "sliding_attention"
_SPARSE, _DENSE = "sparse", "dense"
#: Kinds of RoPE that count from the context that the model was trained with first.
_FROM_ORIGINAL = ("llama3", "yarn", "longrope")


def complete(raw: Mapping[str, Any], model_type: str) -> dict[str, Any]:
    """Return a config with every value that a decoder needs.

    Args:
        raw: config.json, or the part of it that describes the decoder; it is not changed.
        model_type: A key of `VALUES`.

    Returns:
        ``raw`` with the defaults, ``head_dim`` and the layers' kinds settled, and all values of RoPE in
        ``rope_parameters``: one dictionary, or one for each kind of layer.

    Raises:
        KeyError: The model type is unknown.
        TypeError: A value is of the wrong kind.
        ZeroDivisionError: There are no heads; any other of `BAD_VALUE` for values that make no sense.
    """
    family = VALUES[model_type]
    defaults = {**_SHARED, **family.defaults}
    raw = {**raw, **{usual: raw[name] for name, usual in family.spellings.items() if name in raw}}
    if _FULL in family.rope:  # scaling is told by kind of layer
        raw["rope_scaling"] = None
    if family.rope and not (raw.get("rope_scaling") or raw.get("rope_parameters")):
        raw["rope_parameters"] = family.rope
    values = {**defaults, **copy.deepcopy(dict(raw))}
    if "num_experts" in defaults:
        for wanted, others in (("num_experts", _EXPERT_COUNTS), ("num_experts_per_tok", _CHOSEN_COUNTS)):
            found = (raw[name] for name in (wanted, *others) if raw.get(name) is not None)
            values[wanted] = next(found, defaults[wanted])
    if not values.get("use_sliding_window", True):  # whatever it says of the window: transformers writes 0
        values["sliding_window"] = None
    for name, default in defaults.items():
        _check(name, values[name], default)
    if values.get("num_experts") is not None and values["moe_intermediate_size"] is None:
        values["moe_intermediate_size"] = values["intermediate_size"]
    if values["num_key_value_heads"] is None:
        values["num_key_value_heads"] = values["num_attention_heads"]
    if values["head_dim"] is None:
        values["head_dim"] = values["hidden_size"] // values["num_attention_heads"]
    if "kv_lora_rank" in defaults:
        values["head_dim"] = values["qk_rope_head_dim"]  # the width of the rotated part
    if "n_shared_experts" in defaults:
        values["shared_expert_intermediate_size"] = values["n_shared_experts"] * values["moe_intermediate_size"]
    layers = range(values["num_hidden_layers"])
    if "no_rope_layer_interval" in defaults and values["no_rope_layers"] is None:
        values["no_rope_layers"] = [int((layer + 1) % values["no_rope_layer_interval"] > 0) for layer in layers]
    if "num_experts" in defaults and values["mlp_layer_types"] is None:
        values["mlp_layer_types"] = [_SPARSE if _has_experts(values, layer) else _DENSE for layer in layers]
    if values["layer_types"] is None:
        values["layer_types"] = [_SLIDING if _slides(values, family, layer) else _FULL for layer in layers]
    if family.settle is not None:
        family.settle(values, raw)
        for name, default in defaults.items():
            _check(name, values[name], default)
    if "rope_local_base_freq" in defaults:
        values["rope_parameters"] = _rope_by_layer(values, raw)
    else:
        values["rope_parameters"] = _rope(values, raw, family.rope_types)
    if "query_beta" in defaults:
        values["query_beta"] = values["rope_parameters"].get("llama_4_scaling_beta")
    return values


def _check(name: str, value: Any, default: Any) -> None:
    if value is None and (default is None or name in _NULLABLE):
        return
    kind = (int, float) if isinstance(default, float) else type(default)
    boolean = isinstance(value, bool) and not isinstance(default, bool)
    if boolean or (default is not None and not isinstance(value, kind)):
        raise TypeError(f"{name} is {value!r}")
    least, most = _RANGES.get(name, (-math.inf, math.inf))
    if isinstance(value, (int, float)) and not least <= value <= most:
        raise ValueError(f"{name} is {value!r}")


def _slides(values: Mapping[str, Any], family: Values, layer: int) -> bool:
    """Return whether a layer sees only its window if ``layer_types`` does not say it."""
    if family.alternates:
        return bool((layer + 1) % values.get("sliding_window_pattern", 2))
    return values["sliding_window"] is not None and family.slides is not None and family.slides(values, layer)


def _has_experts(values: Mapping[str, Any], layer: int) -> bool:
    """Return whether a layer has experts if ``mlp_layer_types`` does not say it."""
    if not values.get("enable_moe_block", True) or values["num_experts"] == 0:
        return False
    if layer in (values.get("mlp_only_layers") or ()) or layer < values.get(
        "num_dense_layers", values.get("first_k_dense_replace", 0)
    ):
        return False
    return bool((layer + 1) % values.get("decoder_sparse_step", 1) == 0)


def _rope(values: Mapping[str, Any], raw: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    parameters: dict[str, Any] = copy.deepcopy(raw.get("rope_scaling") or raw.get("rope_parameters") or {})
    by_layer = [parameters[kind] for kind in parameters if kind in values["layer_types"]]
    for one in by_layer or [parameters]:
        kind = one.setdefault("rope_type", one.get("type", "default"))
        one["rope_type"] = names.get(kind, kind)
        one.setdefault("rope_theta", values["rope_theta"])
        if values.get("partial_rotary_factor") is not None:
            one.setdefault("partial_rotary_factor", values["partial_rotary_factor"])
        _count_from(one, values, None if by_layer else values.get("original_max_position_embeddings"))
    return parameters


def _rope_by_layer(values: Mapping[str, Any], raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return Gemma 3's RoPE: sliding layers have frequencies of their own, to which scaling does not apply."""
    parameters: dict[str, Any] = copy.deepcopy(raw.get("rope_parameters") or {})
    thetas = {_FULL: values["rope_theta"], _SLIDING: values["rope_local_base_freq"]}
    scaling = {_FULL: raw.get("rope_scaling") or {}}
    for kind, theta in thetas.items():
        parameters[kind] = {**(parameters.get(kind) or {}), **scaling.get(kind, {})}
        parameters[kind].setdefault("rope_type", parameters[kind].get("type", "default"))
        parameters[kind].setdefault("rope_theta", theta)
        _count_from(parameters[kind], values, None)
    return parameters


def _count_from(parameters: dict[str, Any], values: Mapping[str, Any], original: int | None) -> None:
    """Settle the context that a scaled kind counts from."""
    if parameters["rope_type"] in _FROM_ORIGINAL:
        parameters.setdefault("original_max_position_embeddings", values["max_position_embeddings"])
        if original is not None:
            parameters["original_max_position_embeddings"] = original
