"""Google's Gemma 2, 3 and 4, their text parts, and the drafts that come with Gemma 4."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.families.family import EXPERT_VALUES, NETWORK, TEXT_PART, Family, FamilyExperts, Line, Values
from engine.sentences import mark

_GEMMA3 = Family(
    "Gemma 3",
    qkv_bias=None,
    output_bias=None,
    query_key_norm=True,
    sandwich_norm=True,
    norm_offset=1.0,
    scaled_embedding=True,
    scalar_scale=True,
    windows="layer_types",
)
_GEMMA4 = Family(
    "Gemma 4",
    qkv_bias=None,
    output_bias=None,
    query_key_norm=True,
    sandwich_norm=True,
    scaled_embedding=True,
    unit_scale=True,
    soft_caps=True,
    partial_rotary=True,
    value_norm=True,
    layer_scalar=True,
    global_heads=True,
    windows="layer_types",
    experts=FamilyExperts(
        router="router.proj",
        matrices=tuple(f"experts.{{}}.{name}" for name in NETWORK),
        fused=("experts.{}.gate_up_proj", "experts.{}.down_proj"),
        beside=True,
        router_norm="router.scale",
        expert_scale="router.per_expert_scale",
    ),
)
_GEMMA4_MULTIMODAL = replace(
    _GEMMA4,
    name=mark("Gemma 4 (text part)"),
    tensor_prefixes=("model.language_model.",),
    text_config="text_config",
    text_types=("gemma4_text",),
    ignored_prefixes=(
        *("model.vision_tower.", "model.embed_vision.", "model.vision_embedder."),
        *("model.audio_tower.", "model.embed_audio."),
    ),
)
#: The drafts: layers without keys and values.
_GEMMA4_ASSISTANT = replace(
    _GEMMA4,
    name="Gemma 4",
    text_config="text_config",
    text_types=("gemma4_text", "gemma4_unified_text"),
    query_only=True,
    experts=None,
)
_VALUES = {
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
_VALUES4 = {
    **_VALUES,
    **EXPERT_VALUES,
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
_ROPE4 = {
    "sliding_attention": {"rope_type": "default", "rope_theta": 10_000.0},
    "full_attention": {
        "rope_type": "proportional",
        "partial_rotary_factor": 0.25,
        "rope_theta": 1_000_000.0,
    },
}


def _settle(values: dict[str, Any], raw: Mapping[str, Any]) -> None:
    """Settle Gemma 4's global heads: transformers 5 writes each differing layer by itself, and all are alike."""
    values["layer_types"] = [
        *values["layer_types"][:-1],
        "full_attention",
    ]  # whatever it says of the last one
    for own in (raw.get("per_layer_config") or {}).values():
        values["global_head_dim"] = own.get("head_dim", values["global_head_dim"])
        values["num_global_key_value_heads"] = own.get(
            "num_key_value_heads", values["num_global_key_value_heads"]
        )


LINE = Line(
    families={
        "Gemma2ForCausalLM": Family(
            "Gemma 2",
            qkv_bias=None,
            output_bias=None,
            sandwich_norm=True,
            norm_offset=1.0,
            scaled_embedding=True,
            scalar_scale=True,
            soft_caps=True,
            windows="layer_types",
        ),
        "Gemma3ForCausalLM": _GEMMA3,
        "Gemma3ForConditionalGeneration": replace(
            _GEMMA3,
            name=mark("Gemma 3 (text part)"),
            text_types=("gemma3_text",),
            **TEXT_PART,
        ),
        "Gemma4ForCausalLM": _GEMMA4,
        "Gemma4ForConditionalGeneration": _GEMMA4_MULTIMODAL,
        "Gemma4UnifiedForConditionalGeneration": replace(
            _GEMMA4_MULTIMODAL, text_types=("gemma4_unified_text",)
        ),
    },
    assistants={
        "Gemma4AssistantForCausalLM": _GEMMA4_ASSISTANT,
        "Gemma4UnifiedAssistantForCausalLM": _GEMMA4_ASSISTANT,
    },
    values={
        "gemma2": Values(
            {
                **_VALUES,
                "vocab_size": 256_000,
                "max_position_embeddings": 8192,
                "final_logit_softcapping": 30.0,
                "attn_logit_softcapping": 50.0,
            },
            alternates=True,
        ),
        "gemma3_text": Values(
            {
                **_VALUES,
                "vocab_size": 262_208,
                "max_position_embeddings": 131_072,
                "final_logit_softcapping": None,
                "attn_logit_softcapping": None,
                "sliding_window_pattern": 6,
                "rope_theta": 1_000_000.0,
                "rope_local_base_freq": 10_000.0,
            },
            alternates=True,
        ),
        "gemma4_text": Values(_VALUES4, rope=_ROPE4, alternates=True, settle=_settle),
        "gemma4_unified_text": Values(
            {
                **_VALUES4,
                "max_position_embeddings": 262_144,
                "sliding_window": 1024,
                "hidden_size_per_layer_input": 0,
            },
            rope=_ROPE4,
            alternates=True,
            settle=_settle,
        ),
    },
)
