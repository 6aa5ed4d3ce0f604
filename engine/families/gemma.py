"""Google's Gemma 2, 3 and 4, and the drafts that come with Gemma 4."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.families.family import (
    NETWORK,
    NO_SYSTEM,
    TEXT_PART,
    Family,
    FamilyExperts,
    GgufForm,
    KnownTemplate,
    Line,
    Stack,
    Thinking,
    Values,
    experts,
    sizes,
)
from engine.families.gguf_values import GgufValues

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
    sights=("gemma3",),
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
    stacks={f"experts.{name}": Stack((f"experts.{{}}.{name}.weight",)) for name in ("gate_up_proj", "down_proj")},
    sights=("gemma4v", "gemma4uv"),
)
_GEMMA4_MULTIMODAL = replace(
    _GEMMA4,
    tensor_prefixes=("model.language_model.", "language_model.model."),
    text_config="text_config",
    text_types=("gemma4_text",),
    ignored_prefixes=(
        *("vision_tower.", "embed_vision.", "vision_embedder.", "audio_tower.", "embed_audio."),
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
_SIZES = {"hidden": 2304, "layers": 26, "heads": 8, "kv_heads": 4, "head_dim": 256}
_VALUES = {
    "hidden_activation": "gelu_pytorch_tanh",
    "tie_word_embeddings": True,
    "query_pre_attn_scalar": 256,
    "sliding_window": 4096,
    "final_logit_softcapping": None,
    "attn_logit_softcapping": None,
}
_VALUES4 = {
    **sizes(262_144, 131_072, 9216, **{**_SIZES, "layers": 30}),
    **experts(None, None),
    **_VALUES,
    "sliding_window": 512,
    "sliding_window_pattern": 6,
    "global_head_dim": 512,
    "num_global_key_value_heads": None,
    "attention_k_eq_v": False,
    "num_kv_shared_layers": 0,
    "use_double_wide_mlp": False,
    "vocab_size_per_layer_input": 262_144,
    "hidden_size_per_layer_input": 256,
    "enable_moe_block": False,
}
_ROPE4: dict[str, dict[str, Any]] = {
    "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
    "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1e6},
}


def _settle(values: dict[str, Any], raw: Mapping[str, Any]) -> None:
    """Settle Gemma 4's global heads: transformers 5 writes each differing layer by itself, and all are alike."""
    values["layer_types"] = [*values["layer_types"]]
    values["layer_types"][-1] = "full_attention"  # whatever it says of the last one
    for own in (raw.get("per_layer_config") or {}).values():
        values["global_head_dim"] = own.get("head_dim", values["global_head_dim"])
        values["num_global_key_value_heads"] = own.get("num_key_value_heads", values["num_global_key_value_heads"])


#: Of the sizes of Gemma 2 and 3 only these, by their layers, scale attention by something other than the head's size.
_SCALED_BY_WIDTH = {"gemma2": 46, "gemma3": 62}
#: Gemma 3 with a context this long has its frequencies divided by 8, which Ollama's converter leaves out.
_LONG, _LONG_FACTOR = 131_072, 8.0
# Divisors of frequencies above this mean no rotation.
_STILL = 1e20


def _values2(file: GgufValues) -> dict[str, Any]:
    scalar = file.head_dim
    if scale := file.value("attention.scale", 0.0):
        scalar = round(float(scale) ** -2)
    elif file.layers == _SCALED_BY_WIDTH[file.prefix]:
        scalar = file.hidden // file.heads
    return {"query_pre_attn_scalar": scalar, **file.soft_caps("attn", "final"), **file.windows()}


def _written2(values: Mapping[str, Any]) -> dict[str, Any]:
    return {"attention.scale": float(values["query_pre_attn_scalar"]) ** -0.5}


def _written3(values: Mapping[str, Any]) -> dict[str, Any]:
    return {**_written2(values), **_written_rope(values)}


def _written4(values: Mapping[str, Any]) -> dict[str, Any]:
    whole, sliding = int(values["global_head_dim"]), int(values["head_dim"])
    return {
        **{f"attention.{part}_length": whole for part in ("key", "value")},
        **{f"attention.{part}_length_swa": sliding for part in ("key", "value")},
        "attention.shared_kv_layers": int(values["num_kv_shared_layers"]),
        "embedding_length_per_layer_input": int(values["hidden_size_per_layer_input"]),
        "rope.dimension_count": whole,
        "rope.dimension_count_swa": sliding,
        **_written_rope(values),
    }


def _written_rope(values: Mapping[str, Any]) -> dict[str, Any]:
    return {"rope.freq_base_swa": float(values["rope_parameters"]["sliding_attention"]["rope_theta"])}


def _values3(file: GgufValues) -> dict[str, Any]:
    left_out = file.context >= _LONG and not file.given(float, it="attention.layer_norm_rms_epsilon")
    whole = file.rope("linear", _LONG_FACTOR) if left_out else file.rope()
    local = {"rope_type": "default", **file.given(float, rope_theta="rope.freq_base_swa")}
    return {**_values2(file), "rope_parameters": {"full_attention": whole, "sliding_attention": local}}


def _values4(file: GgufValues) -> dict[str, Any]:
    windows = file.windows()
    kinds = windows["layer_types"]
    heads: dict[str, set[int]] = {"full_attention": set(), "sliding_attention": set()}
    for kind, own in zip(kinds, file.each("attention.head_count_kv"), strict=True):
        heads[kind].add(own)
    (whole,), (sliding,) = heads.values()
    lengths = file.each("feed_forward_length")
    width = int(file.value("embedding_length_per_layer_input", 0))
    # The file gives pairs that stand still a divisor without bound.
    turning = [factor for factor in file.floats("rope_freqs.weight") if factor < _STILL]
    if set(turning) - {1.0}:
        raise ValueError(f"divisors {sorted(set(turning))}")
    rope = {
        kind: {**_ROPE4[kind], "rope_theta": float(file.value(key, _ROPE4[kind]["rope_theta"]))}
        for kind, key in (("full_attention", "rope.freq_base"), ("sliding_attention", "rope.freq_base_swa"))
    }
    rope["full_attention"]["partial_rotary_factor"] = 2 * len(turning) / file.head_dim
    return {
        "num_key_value_heads": sliding,
        "num_global_key_value_heads": whole,
        "intermediate_size": min(lengths),
        "use_double_wide_mlp": max(lengths) > min(lengths),
        "attention_k_eq_v": f"blk.{kinds.index('full_attention')}.attn_v.weight" not in file.shapes,
        "global_head_dim": file.head_dim,
        "num_kv_shared_layers": int(file.value("attention.shared_kv_layers", 0)),
        "hidden_size_per_layer_input": width,
        "vocab_size_per_layer_input": file.shapes["per_layer_token_embd.weight"][0] if width else 0,
        "enable_moe_block": "blk.0.ffn_gate_inp.weight" in file.shapes,
        **file.soft_caps("final"),
        **windows,
        "rope_parameters": rope,
    }


_GEMMA4_VALUES = Values(_VALUES4, rope=_ROPE4, alternates=True, settle=_settle)
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
            text_types=("gemma3_text",),
            **TEXT_PART,
        ),
        "Gemma4ForCausalLM": _GEMMA4,
        "Gemma4ForConditionalGeneration": _GEMMA4_MULTIMODAL,
        "Gemma4UnifiedForConditionalGeneration": replace(_GEMMA4_MULTIMODAL, text_types=("gemma4_unified_text",)),
    },
    assistants={
        "Gemma4AssistantForCausalLM": _GEMMA4_ASSISTANT,
        "Gemma4UnifiedAssistantForCausalLM": _GEMMA4_ASSISTANT,
    },
    values={
        "gemma2": Values(
            {
                **sizes(256_000, 8192, 9216, **_SIZES),
                **_VALUES,
                "final_logit_softcapping": 30.0,
                "attn_logit_softcapping": 50.0,
            },
            alternates=True,
        ),
        "gemma3_text": Values(
            {
                **sizes(262_208, 131_072, 9216, **_SIZES),
                **_VALUES,
                "sliding_window_pattern": 6,
                "rope_theta": 1_000_000.0,
                "rope_local_base_freq": 10_000.0,
            },
            alternates=True,
        ),
        "gemma4_text": _GEMMA4_VALUES,
        "gemma4_unified_text": replace(
            _GEMMA4_VALUES,
            defaults={
                **_VALUES4,
                "max_position_embeddings": 262_144,
                "sliding_window": 1024,
                "hidden_size_per_layer_input": 0,
            },
        ),
    },
    gguf={
        "gemma2": GgufForm("Gemma2ForCausalLM", "gemma2", values=_values2, written=_written2, space_prefix=False),
        "gemma3": GgufForm("Gemma3ForCausalLM", "gemma3_text", values=_values3, written=_written3, space_prefix=False),
        "gemma4": GgufForm(
            "Gemma4ForCausalLM",
            "gemma4_text",
            other_types=("gemma4_unified_text",),
            values=_values4,
            written=_written4,
            layer={
                **dict.fromkeys(("post_attention_norm", "attn_post_norm"), "post_attention_layernorm"),
                **dict.fromkeys(("ffn_norm", "ffn_pre_norm"), "pre_feedforward_layernorm"),
                **dict.fromkeys(("post_ffw_norm", "ffn_post_norm"), "post_feedforward_layernorm"),
                **dict.fromkeys(("pre_ffw_norm_2", "ffn_pre_norm_2"), "pre_feedforward_layernorm_2"),
                **dict.fromkeys(("post_ffw_norm_1", "ffn_post_norm_1"), "post_feedforward_layernorm_1"),
                **dict.fromkeys(("post_ffw_norm_2", "ffn_post_norm_2"), "post_feedforward_layernorm_2"),
                "inp_gate": "per_layer_input_gate",
                "proj": "per_layer_projection",
                "post_norm": "post_per_layer_input_norm",
            },
            whole={
                "ffn_gate_inp.scale": "router.scale",
                **dict.fromkeys(("ffn_down_exps.scale", "ffn_gate_inp.per_expert_scale"), "router.per_expert_scale"),
                **dict.fromkeys(("layer_output_scale.weight", "layer_scalar"), "layer_scalar"),
            },
            splitting="gemma4",
            space_prefix=False,
        ),
    },
    ends=("<end_of_turn>", "<eos>", "<turn|>", "<|tool_response>"),
    thinking=Thinking("<|channel>thought", "<channel|>", ("<|channel>", "<channel|>")),
    template=KnownTemplate(
        "Gemma",
        ("<start_of_turn>", "<end_of_turn>"),
        NO_SYSTEM
        + "<start_of_turn>{{ 'model' if m.role == 'assistant' else m.role }}\n{{ m.content | trim }}<end_of_turn>\n",
        "<start_of_turn>model\n",
        "<end_of_turn>",
    ),
    tokenizers={
        "GemmaTokenizer": {"bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>", "pad_token": "<pad>"}
    },
)
