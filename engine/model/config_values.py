"""config.json as a model's own code reads it, with defaults for missing values and with older spellings.

Source: the config classes of transformers 5, models/*/configuration_*.py and modeling_rope_utils.py, with which a
test compares this. Reading a dictionary here takes none of the seconds that importing transformers does.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any

_SHARED: dict[str, Any] = {
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": None,
    "head_dim": None,
    "hidden_act": "silu",
    "rms_norm_eps": 1e-6,
    "attention_bias": False,
    "mlp_bias": False,
    "sliding_window": None,
    "layer_types": None,
    "tie_word_embeddings": False,
    "rope_theta": 10_000.0,
}
_QWEN2 = {
    "vocab_size": 151_936,
    "intermediate_size": 22_016,
    "num_key_value_heads": 32,
    "max_position_embeddings": 32_768,
    "use_sliding_window": False,
    "sliding_window": 4096,
    "max_window_layers": 28,
}
#: Keys of configs with experts, and their defaults.
_EXPERTS = {
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "moe_intermediate_size": None,
    "norm_topk_prob": True,
    "routed_scaling_factor": 1.0,
    "n_group": 1,
    "topk_group": 1,
    "shared_expert_intermediate_size": None,
    "mlp_layer_types": None,
}
#: Names of the same number in other families.
_EXPERT_COUNTS = ("num_local_experts", "n_routed_experts")
_CHOSEN_COUNTS = ("top_k_experts",)
_QWEN_EXPERTS = {
    **_EXPERTS,
    "vocab_size": 151_936,
    "hidden_size": 2048,
    "num_hidden_layers": 24,
    "max_position_embeddings": 32_768,
    "use_sliding_window": False,
    "sliding_window": 4096,
    "norm_topk_prob": False,
    "decoder_sparse_step": 1,
    "mlp_only_layers": None,
}
_LATENTS = {
    **_EXPERTS,
    "num_experts": 64,
    "n_shared_experts": 1,
    "first_k_dense_replace": 0,
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128,
    "v_head_dim": 128,
    "rope_interleave": True,
}
_GRANITE = {
    "vocab_size": 32_000,
    "intermediate_size": 11_008,
    "max_position_embeddings": 2048,
    "embedding_multiplier": 1.0,
    "attention_multiplier": 1.0,
    "residual_multiplier": 1.0,
    "logits_scaling": 1.0,
}
_LFM2 = {
    "vocab_size": 65_536,
    "num_key_value_heads": 8,
    "max_position_embeddings": 128_000,
    "rms_norm_eps": 1e-5,
    "tie_word_embeddings": True,
    "rope_theta": 1_000_000.0,
    "conv_bias": False,
    "conv_L_cache": 3,
}
#: Names in LFM2's configs, and the usual names of the same values.
_LFM2_NAMES = {
    "norm_eps": "rms_norm_eps",
    "tie_embedding": "tie_word_embeddings",
    "block_ff_dim": "intermediate_size",
}
_GEMMA = {
    "hidden_size": 2304,
    "intermediate_size": 9216,
    "num_hidden_layers": 26,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "hidden_activation": "gelu_pytorch_tanh",
    "tie_word_embeddings": True,
    "query_pre_attn_scalar": 256,
    "sliding_window": 4096,
}
_GEMMA4 = {
    **_GEMMA,
    **_EXPERTS,
    "num_experts": None,
    "num_experts_per_tok": None,
    "vocab_size": 262_144,
    "num_hidden_layers": 30,
    "max_position_embeddings": 131_072,
    "sliding_window": 512,
    "sliding_window_pattern": 6,
    "final_logit_softcapping": None,
    "attn_logit_softcapping": None,
    "global_head_dim": 512,
    "num_global_key_value_heads": None,
    "attention_k_eq_v": False,
    "num_kv_shared_layers": 0,
    "use_double_wide_mlp": False,
    "vocab_size_per_layer_input": 262_144,
    "hidden_size_per_layer_input": 256,
    "enable_moe_block": False,
}
#: Values that transformers takes if config.json has none, by ``model_type``.
DEFAULTS: dict[str, dict[str, Any]] = {
    "llama": {
        "vocab_size": 32_000,
        "intermediate_size": 11_008,
        "max_position_embeddings": 2048,
    },
    "smollm3": {
        "vocab_size": 128_256,
        "hidden_size": 2048,
        "intermediate_size": 11_008,
        "num_hidden_layers": 36,
        "num_attention_heads": 16,
        "num_key_value_heads": 4,
        "max_position_embeddings": 32_768,
        "tie_word_embeddings": True,
        "rope_theta": 2_000_000.0,
        "use_sliding_window": False,
        "no_rope_layers": None,
        "no_rope_layer_interval": 4,
    },
    "mistral": {
        "vocab_size": 32_000,
        "intermediate_size": 14_336,
        "num_key_value_heads": 8,
        "max_position_embeddings": 131_072,
        "sliding_window": 4096,
    },
    "ministral3": {
        "vocab_size": 131_072,
        "intermediate_size": 14_336,
        "num_hidden_layers": 34,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "rms_norm_eps": 1e-5,
        "max_position_embeddings": 262_144,
        "query_beta": None,
    },
    "qwen2": _QWEN2,
    "qwen2_moe": {
        **_QWEN_EXPERTS,
        "intermediate_size": 5632,
        "num_attention_heads": 16,
        "num_key_value_heads": 16,
        "max_window_layers": 28,
        "moe_intermediate_size": 1408,
        "shared_expert_intermediate_size": 5632,
        "num_experts": 60,
        "num_experts_per_tok": 4,
    },
    "qwen3": {**_QWEN2, "head_dim": 128},
    "qwen3_moe": {
        **_QWEN_EXPERTS,
        "intermediate_size": 6144,
        "num_key_value_heads": 4,
        "moe_intermediate_size": 768,
    },
    "gpt_oss": {
        **_EXPERTS,
        "vocab_size": 201_088,
        "hidden_size": 2880,
        "intermediate_size": 2880,
        "num_hidden_layers": 36,
        "num_attention_heads": 64,
        "num_key_value_heads": 8,
        "head_dim": 64,
        "rms_norm_eps": 1e-5,
        "attention_bias": True,
        "sliding_window": 128,
        "max_position_embeddings": 131_072,
        "num_experts_per_tok": 4,
        "rope_theta": 150_000.0,
        "swiglu_alpha": 1.702,
        "swiglu_limit": 7.0,
    },
    "lfm2": {
        **_LFM2,
        "hidden_size": 2560,
        "intermediate_size": 12_288,
        "block_multiple_of": 256,
        "block_ffn_dim_multiplier": 1.0,
        "block_auto_adjust_ff_dim": True,
        "full_attn_idxs": None,
    },
    "lfm2_moe": {
        **_EXPERTS,
        **_LFM2,
        "hidden_size": 2048,
        "intermediate_size": 7168,
        "moe_intermediate_size": 1792,
        "num_experts": 32,
        "num_experts_per_tok": 4,
        "num_dense_layers": 2,
        "use_expert_bias": True,
    },
    "deepseek_v2": {
        **_LATENTS,
        "vocab_size": 102_400,
        "intermediate_size": 11_008,
        "max_position_embeddings": 2048,
        "num_experts_per_tok": None,
        "moe_intermediate_size": 1407,
        "n_shared_experts": 2,
        "n_group": None,
        "topk_group": None,
        "topk_method": "greedy",
        "norm_topk_prob": False,
    },
    "deepseek_v3": {
        **_LATENTS,
        "vocab_size": 129_280,
        "hidden_size": 7168,
        "intermediate_size": 18_432,
        "num_hidden_layers": 61,
        "num_attention_heads": 128,
        "num_key_value_heads": 128,
        "max_position_embeddings": 4096,
        "num_experts": 256,
        "moe_intermediate_size": 2048,
        "first_k_dense_replace": 3,
        "routed_scaling_factor": 2.5,
        "n_group": 8,
        "topk_group": 4,
    },
    "glm4_moe": {
        **_EXPERTS,
        "vocab_size": 151_552,
        "intermediate_size": 10_944,
        "num_hidden_layers": 46,
        "num_attention_heads": 96,
        "num_key_value_heads": 8,
        "rms_norm_eps": 1e-5,
        "max_position_embeddings": 131_072,
        "partial_rotary_factor": 0.5,
        "use_qk_norm": False,
        "moe_intermediate_size": 1408,
        "n_shared_experts": 1,
        "first_k_dense_replace": 1,
    },
    "glm4_moe_lite": {
        **_LATENTS,
        "vocab_size": 154_880,
        "hidden_size": 2048,
        "intermediate_size": 10_240,
        "num_hidden_layers": 47,
        "num_attention_heads": 20,
        "num_key_value_heads": 20,
        "rms_norm_eps": 1e-5,
        "max_position_embeddings": 202_752,
        "num_experts_per_tok": 4,
        "moe_intermediate_size": 1536,
        "first_k_dense_replace": 1,
        "q_lora_rank": 768,
        "qk_nope_head_dim": 192,
        "v_head_dim": 256,
        "routed_scaling_factor": 1.8,
    },
    "granite": _GRANITE,
    "granitemoe": {**_EXPERTS, **_GRANITE, "num_experts": 8, "num_experts_per_tok": 2},
    "phi3": {
        "vocab_size": 32_064,
        "hidden_size": 3072,
        "intermediate_size": 8192,
        "max_position_embeddings": 4096,
        "original_max_position_embeddings": 4096,
        "rms_norm_eps": 1e-5,
        "partial_rotary_factor": 1.0,
    },
    "gemma2": {
        **_GEMMA,
        "vocab_size": 256_000,
        "max_position_embeddings": 8192,
        "final_logit_softcapping": 30.0,
        "attn_logit_softcapping": 50.0,
    },
    "gemma3_text": {
        **_GEMMA,
        "vocab_size": 262_208,
        "max_position_embeddings": 131_072,
        "final_logit_softcapping": None,
        "attn_logit_softcapping": None,
        "sliding_window_pattern": 6,
        "rope_theta": 1_000_000.0,
        "rope_local_base_freq": 10_000.0,
    },
    "gemma4_text": _GEMMA4,
    "gemma4_unified_text": {
        **_GEMMA4,
        "max_position_embeddings": 262_144,
        "sliding_window": 1024,
        "hidden_size_per_layer_input": 0,
    },
}
#: Errors raised if a value is missing, of the wrong kind or makes no sense.
BAD_VALUE = (
    *(AttributeError, KeyError, TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError),
    RuntimeError,  # torch's, for numbers that it cannot compute with
)
#: Far beyond every existing model: a damaged number must not become a list of that many entries, or a NaN.
_RANGES = {
    "num_hidden_layers": (1, 10_000),
    "num_attention_heads": (1, 1 << 16),
    "num_key_value_heads": (1, 1 << 16),
    "head_dim": (1, 1 << 16),
    "hidden_size": (1, 1 << 20),
    "intermediate_size": (1, 1 << 24),
    "vocab_size": (1, 1 << 28),
    "max_position_embeddings": (1, 1 << 31),
    "sliding_window": (1, 1 << 31),
    "sliding_window_pattern": (1, 10_000),
    "no_rope_layer_interval": (1, 10_000),
    "rms_norm_eps": (0.0, 1.0),
    "rope_theta": (1e-3, 1e15),
    "rope_local_base_freq": (1e-3, 1e15),
    "partial_rotary_factor": (1e-3, 1.0),
    "global_head_dim": (1, 1 << 16),
    "num_global_key_value_heads": (1, 1 << 16),
    "num_kv_shared_layers": (0, 10_000),
    "vocab_size_per_layer_input": (0, 1 << 28),
    "hidden_size_per_layer_input": (0, 1 << 20),
    "num_experts": (1, 1 << 16),
    "num_experts_per_tok": (1, 1 << 16),
    "moe_intermediate_size": (1, 1 << 24),
    "shared_expert_intermediate_size": (0, 1 << 24),
    "n_shared_experts": (0, 1 << 10),
    "first_k_dense_replace": (0, 10_000),
    "kv_lora_rank": (1, 1 << 16),
    "q_lora_rank": (1, 1 << 20),
    "qk_rope_head_dim": (2, 1 << 16),
    "qk_nope_head_dim": (1, 1 << 16),
    "v_head_dim": (1, 1 << 16),
    "n_group": (1, 1 << 16),
    "topk_group": (1, 1 << 16),
    "decoder_sparse_step": (1, 10_000),
    "conv_L_cache": (2, 64),
    "block_multiple_of": (1, 1 << 20),
    "block_ffn_dim_multiplier": (1e-3, 1e3),
    "embedding_multiplier": (1e-6, 1e6),
    "attention_multiplier": (1e-6, 1e6),
    "residual_multiplier": (1e-6, 1e6),
    "logits_scaling": (1e-6, 1e6),
    "query_pre_attn_scalar": (1e-3, 1e9),
    "attn_logit_softcapping": (1e-3, 1e9),
    "final_logit_softcapping": (1e-3, 1e9),
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
CONVOLUTION = "conv"
"""A layer's type that has a short convolution in attention's place."""
_SPARSE, _DENSE = "sparse", "dense"
_GEMMA4_ROPE = {
    _SLIDING: {"rope_type": "default", "rope_theta": 10_000.0},
    _FULL: {"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1_000_000.0},
}
#: Kinds of RoPE that count from the context that the model was trained with first.
_FROM_ORIGINAL = ("llama3", "yarn", "longrope")
_YARN = {"rope_type": "yarn", "beta_fast": 32.0, "beta_slow": 1.0}
#: Kinds of RoPE of families that scale it even if config.json says nothing.
_ROPES: dict[str, dict[str, Any]] = {
    "gpt_oss": {**_YARN, "factor": 32.0, "truncate": False, "original_max_position_embeddings": 4096},
    "ministral3": {
        **_YARN,
        "rope_theta": 1_000_000.0,
        "factor": 16.0,
        "original_max_position_embeddings": 16_384,
        "mscale": 1.0,
        "mscale_all_dim": 1.0,
        "llama_4_scaling_beta": 0.1,
    },
}
#: LongRoPE, as Phi-3's older files call it.
_OLD_NAMES = {"phi3": {"su": "longrope", "yarn": "longrope"}}


def complete(raw: Mapping[str, Any], model_type: str) -> dict[str, Any]:
    """Return a config with every value that a decoder needs.

    Args:
        raw: config.json, or the part of it that describes the decoder; it is not changed.
        model_type: A key of `DEFAULTS`.

    Returns:
        ``raw`` with the defaults, ``head_dim`` and the layers' kinds settled, and all values of RoPE in
        ``rope_parameters``: one dictionary, or one for each kind of layer.

    Raises:
        KeyError: The model type is unknown.
        TypeError: A value is of the wrong kind.
        ZeroDivisionError: There are no heads; any other of `BAD_VALUE` for values that make no sense.
    """
    defaults = {**_SHARED, **DEFAULTS[model_type]}
    if "conv_L_cache" in defaults:
        raw = _as_usual(raw)
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
        values["shared_expert_intermediate_size"] = (
            values["n_shared_experts"] * values["moe_intermediate_size"]
        )
    layers = range(values["num_hidden_layers"])
    if "no_rope_layer_interval" in defaults and values["no_rope_layers"] is None:
        values["no_rope_layers"] = [
            int((layer + 1) % values["no_rope_layer_interval"] > 0) for layer in layers
        ]
    if "num_experts" in defaults and values["mlp_layer_types"] is None:
        values["mlp_layer_types"] = [_SPARSE if _has_experts(values, layer) else _DENSE for layer in layers]
    if values.get("block_auto_adjust_ff_dim"):
        values["intermediate_size"] = _adjusted(values)
    if model_type == "lfm2" and values["layer_types"] is None and values["full_attn_idxs"] is not None:
        values["layer_types"] = [
            _FULL if layer in values["full_attn_idxs"] else CONVOLUTION for layer in layers
        ]
    if values["layer_types"] is None:
        values["layer_types"] = [
            _SLIDING if _slides(values, model_type, layer) else _FULL for layer in layers
        ]
    if model_type in _ROPES and not (raw.get("rope_scaling") or raw.get("rope_parameters")):
        raw = {**raw, "rope_parameters": _ROPES[model_type]}
    if model_type.startswith("gemma4"):
        values["layer_types"] = [*values["layer_types"][:-1], _FULL]  # whatever it says of the last one
        values["rope_parameters"] = raw.get("rope_parameters") or copy.deepcopy(_GEMMA4_ROPE)
        _settle_global_heads(values)
    elif model_type == "gemma3_text":
        values["rope_parameters"] = _rope_by_layer(values, raw)
    else:
        values["rope_parameters"] = _rope(values, raw, _OLD_NAMES.get(model_type, {}))
    if model_type == "ministral3":
        values["query_beta"] = values["rope_parameters"].get("llama_4_scaling_beta")
    return values


def _as_usual(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return LFM2's config by the usual names."""
    usual = dict(raw)
    for name, other in _LFM2_NAMES.items():
        if name in usual:
            usual[other] = usual.pop(name)
    return usual


def _adjusted(values: Mapping[str, Any]) -> int:
    """Return the width of LFM2's networks: two thirds of the config's, in whole pieces."""
    width = int(2 * values["intermediate_size"] / 3)
    if values["block_ffn_dim_multiplier"] is None:
        return width
    piece = int(values["block_multiple_of"])
    return -(-int(values["block_ffn_dim_multiplier"] * width) // piece) * piece


def _settle_global_heads(values: dict[str, Any]) -> None:
    """Settle Gemma 4's global heads: transformers 5 writes each differing layer by itself, and all are alike."""
    for own in (values.get("per_layer_config") or {}).values():
        if "head_dim" in own:
            values["global_head_dim"] = own["head_dim"]
        if "num_key_value_heads" in own:
            values["num_global_key_value_heads"] = own["num_key_value_heads"]
    _check("global_head_dim", values["global_head_dim"], 512)
    _check("num_global_key_value_heads", values["num_global_key_value_heads"], None)


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


def _slides(values: Mapping[str, Any], model_type: str, layer: int) -> bool:
    """Return whether a layer sees only its window if ``layer_types`` does not say it."""
    alternates = model_type.startswith(("gemma", "gpt_oss"))
    if values["sliding_window"] is None and not alternates:
        return False
    if model_type == "smollm3":
        return not values["no_rope_layers"][layer]
    if model_type in ("qwen2", "qwen3"):
        return bool(layer >= values["max_window_layers"])
    if model_type == "qwen2_moe":
        return bool(layer < values["max_window_layers"] and layer % 2 == 0)
    if alternates:
        return bool((layer + 1) % values.get("sliding_window_pattern", 2))
    return False


def _has_experts(values: Mapping[str, Any], layer: int) -> bool:
    """Return whether a layer has experts if ``mlp_layer_types`` does not say it."""
    if not values.get("enable_moe_block", True):
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
