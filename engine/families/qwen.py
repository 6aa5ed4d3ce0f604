"""Alibaba's Qwen: Qwen2 and 2.5, Qwen3, those with experts, and Qwen3-Next and Qwen3.5, which are hybrids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.families.family import (
    Family,
    FamilyExperts,
    GgufForm,
    Line,
    Stack,
    Values,
    experts,
    sizes,
)
from engine.families.gguf_values import GgufValues
from engine.sentences import mark

_WINDOW = {"use_sliding_window": False, "sliding_window": 4096}
_DENSE = {**sizes(151_936, 32_768, 22_016, kv_heads=32), **_WINDOW, "max_window_layers": 28}
_SPARSE = {**_WINDOW, "norm_topk_prob": False, "decoder_sparse_step": 1, "mlp_only_layers": None}


def _slides(values: Mapping[str, Any], layer: int) -> bool:
    return bool(layer >= values["max_window_layers"])


def _values(file: GgufValues) -> dict[str, Any]:
    width = file.value("expert_shared_feed_forward_length", 0) or file.value("feed_forward_length")
    return {
        "shared_expert_intermediate_size": int(width),
        "norm_topk_prob": bool(file.value("expert_weights_norm", False)),
    }


def _sections(file: GgufValues) -> dict[str, Any]:
    """Return RoPE with the pairs that turn by time, row and column."""
    found = file.value("rope.dimension_sections", ())
    return {
        "rope_parameters": {
            **file.rope(),
            **({"mrope_section": list(found), "mrope_interleaved": True} if found else {}),
        }
    }


def _settle(values: dict[str, Any], raw: Mapping[str, Any]) -> None:
    if raw.get("layer_types") is None:
        every = values["full_attention_interval"]
        layers = range(values["num_hidden_layers"])
        values["layer_types"] = [_RECURRENT if (layer + 1) % every else "full_attention" for layer in layers]


def _recurrent_values(file: GgufValues) -> dict[str, Any]:
    """Return the sizes of the recurrent layers, whose value heads llama.cpp may order by their place in a group."""
    heads, key_heads = int(file.value("ssm.time_step_rank")), int(file.value("ssm.group_count"))
    kinds = [f"blk.{layer}.ssm_a" in file.shapes for layer in range(file.layers)]
    shared = {} if file.prefix == "qwen35" else _values(file)
    return {
        **({} if file.prefix == "qwen3next" else _sections(file)),
        **{key: value for key, value in shared.items() if key != "norm_topk_prob"},
        **({} if file.value("feed_forward_length", 0) else {"intermediate_size": file.hidden}),
        "layer_types": [_RECURRENT if recurrent else "full_attention" for recurrent in kinds],
        "linear_conv_kernel_dim": int(file.value("ssm.conv_kernel")),
        "linear_key_head_dim": int(file.value("ssm.state_size")),
        "linear_value_head_dim": int(file.value("ssm.inner_size")) // heads,
        "linear_num_key_heads": key_heads,
        "linear_num_value_heads": heads,
        "linear_tiled": file.prefix != "qwen3next",
        "linear_decays": True,
    }


def _recurrent_written(values: Mapping[str, Any]) -> dict[str, Any]:
    found = {"full_attention_interval": int(values["full_attention_interval"])}
    if values["model_type"] == "qwen3_next":
        return found
    sections = values["rope_parameters"].get("mrope_section") or (11, 11, 10)
    return {**found, "rope.dimension_sections": [*sections, *[0] * (4 - len(sections))]}


def _recurrent(family: Family) -> Family:
    """Return the family with gated DeltaNet in most layers, as transformers has Qwen3-Next and Qwen3.5."""
    experts = family.experts
    stacks = {} if experts is None else {f"mlp.experts.{name}": Stack((f"{_EXPERT}{name}.weight",)) for name in _FUSED}
    return replace(
        family,
        qkv_bias=None,
        output_bias=None,
        query_key_norm=True,
        norm_offset=1.0,
        partial_rotary=True,
        output_gate="queries",
        convolution=_RECURRENT,
        windows="none",
        extra_layers=True,
        ignored_prefixes=("model.visual.", "vision_tower."),
        stacks={f"{_CONVOLUTION}.weight": Stack((f"{_CONVOLUTION}.weight",), flat=True), **stacks},
        experts=None if experts is None else replace(experts, fused=tuple(_EXPERT + name for name in _FUSED)),
        sections=() if family.delta == "joined" else (11, 11, 10),
        sights=() if family.delta == "joined" else (_SIGHT,),
    )


def _text_part(family: Family, name: str, kind: str) -> Family:
    """Return the family as the decoder beside an image encoder."""
    prefixes = ("model.language_model.", "language_model.model.", "model.")
    return replace(family, name=name, text_config="text_config", text_types=(kind,), tensor_prefixes=prefixes)


_SIGHT = "qwen3vl_merger"
_RECURRENT, _CONVOLUTION, _EXPERT = "linear_attention", "linear_attn.conv1d", "mlp.experts.{}."
_FUSED = ("gate_up_proj", "down_proj")
_SHARED = FamilyExperts(shared="mlp.shared_expert.", shared_gate="mlp.shared_expert_gate")
_QWEN3VL = Family(
    "Qwen3-VL",
    qkv_bias=None,
    output_bias=None,
    query_key_norm=True,
    ignored_prefixes=("model.visual.",),
    sights=(_SIGHT,),
    sections=(24, 20, 20),
)
_QWEN3VL_MOE = replace(
    _QWEN3VL,
    name=mark("Qwen3-VL with experts"),
    experts=FamilyExperts(fused=tuple(_EXPERT + name for name in _FUSED)),
    stacks={
        f"mlp.experts.{name}": Stack((f"{_EXPERT}{name}.weight",), transposed=True, columns=columns)
        for name, columns in zip(_FUSED, ("hidden_size", "moe_intermediate_size"), strict=True)
    },
)
_QWEN35 = _recurrent(Family("Qwen3.5", delta="apart"))
_QWEN35_MOE = _recurrent(Family(mark("Qwen3.5 with experts"), delta="apart", experts=_SHARED))
_HYBRID = {
    **sizes(248_320, 32_768, 12_288, heads=16, kv_heads=4, head_dim=256),
    "partial_rotary_factor": 0.25,
    "linear_conv_kernel_dim": 4,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 32,
    "full_attention_interval": 4,
}
_HYBRID_MOE = {
    **_HYBRID,
    **experts(256, 8, 512),
    "hidden_size": 2048,
    "num_hidden_layers": 40,
    "num_key_value_heads": 2,
    "intermediate_size": 512,
    "shared_expert_intermediate_size": 512,
}
_RECURRENT_NAMES = {
    "post_attention_norm": "post_attention_layernorm",
    "attn_qkv": "linear_attn.in_proj_qkv",
    "attn_gate": "linear_attn.in_proj_z",
    "ssm_in": "linear_attn.in_proj_qkvz",
    "ssm_ba": "linear_attn.in_proj_ba",
    "ssm_beta": "linear_attn.in_proj_b",
    "ssm_alpha": "linear_attn.in_proj_a",
    "ssm_conv1d": _CONVOLUTION,
    "ssm_norm": "linear_attn.norm",
    "ssm_out": "linear_attn.out_proj",
}


def _recurrent_form(architecture: str, model_type: str) -> GgufForm:
    whole = {"ssm_a": "linear_attn.A_log", "ssm_dt.bias": "linear_attn.dt_bias"}
    return GgufForm(
        architecture,
        model_type,
        values=_recurrent_values,
        written=_recurrent_written,
        layer=_RECURRENT_NAMES,
        whole=whole,
        splitting="qwen2" if model_type == "qwen3_next" else "qwen35",
    )


LINE = Line(
    families={
        "Qwen2ForCausalLM": Family("Qwen2, Qwen2.5", qkv_bias=True, windows="layer_types"),
        "Qwen2MoeForCausalLM": Family(
            mark("Qwen2 with experts"),
            qkv_bias=True,
            windows="layer_types",
            experts=FamilyExperts(shared="mlp.shared_expert.", shared_gate="mlp.shared_expert_gate"),
        ),
        "Qwen3ForCausalLM": Family(
            "Qwen3", qkv_bias=None, output_bias=None, query_key_norm=True, windows="layer_types"
        ),
        "Qwen3MoeForCausalLM": Family(
            mark("Qwen3 with experts"),
            qkv_bias=None,
            output_bias=None,
            query_key_norm=True,
            windows="all",
            experts=FamilyExperts(),
        ),
        "Qwen3VLForConditionalGeneration": _text_part(_QWEN3VL, "Qwen3-VL", "qwen3_vl_text"),
        "Qwen3VLForCausalLM": _QWEN3VL,  # which GGUF files are
        "Qwen3VLMoeForConditionalGeneration": _text_part(_QWEN3VL_MOE, _QWEN3VL_MOE.name, "qwen3_vl_moe_text"),
        "Qwen3VLMoeForCausalLM": _QWEN3VL_MOE,
        "Qwen3NextForCausalLM": _recurrent(Family("Qwen3-Next", delta="joined", experts=_SHARED)),
        "Qwen3_5ForCausalLM": _QWEN35,
        "Qwen3_5ForConditionalGeneration": _text_part(_QWEN35, "Qwen3.5", "qwen3_5_text"),
        "Qwen3_5MoeForCausalLM": _QWEN35_MOE,
        "Qwen3_5MoeForConditionalGeneration": _text_part(_QWEN35_MOE, mark("Qwen3.5 with experts"), "qwen3_5_moe_text"),
    },
    values={
        "qwen2": Values(_DENSE, slides=_slides),
        "qwen2_moe": Values(
            {
                **sizes(151_936, 32_768, 5632, hidden=2048, layers=24, heads=16, kv_heads=16),
                **experts(60, 4, 1408),
                **_SPARSE,
                "max_window_layers": 28,
                "shared_expert_intermediate_size": 5632,
            },
            slides=lambda values, layer: layer < values["max_window_layers"] and layer % 2 == 0,
        ),
        "qwen3": Values({**_DENSE, "head_dim": 128}, slides=_slides),
        "qwen3_vl_text": Values(
            {**sizes(151_936, 128_000, 22_016, kv_heads=32), "head_dim": 128, "rope_theta": 500_000.0}
        ),
        "qwen3_vl_moe_text": Values(
            {
                **sizes(151_936, 128_000, 5632, hidden=2048, layers=24, heads=16, kv_heads=16),
                **experts(60, 4, 1408),
                "decoder_sparse_step": 1,
                "mlp_only_layers": None,
                "rope_theta": 500_000.0,
            }
        ),
        "qwen3_moe": Values(
            {
                **sizes(151_936, 32_768, 6144, hidden=2048, layers=24, kv_heads=4),
                **experts(128, 8, 768),
                **_SPARSE,
            }
        ),
        "qwen3_next": Values(
            {
                **_HYBRID_MOE,
                **experts(512, 10, 512),
                "vocab_size": 151_936,
                "intermediate_size": 5632,
                "num_hidden_layers": 48,
                "decoder_sparse_step": 1,
                "mlp_only_layers": None,
            },
            settle=_settle,
        ),
        "qwen3_5_text": Values(_HYBRID, settle=_settle),
        "qwen3_5_moe_text": Values(_HYBRID_MOE, settle=_settle),
    },
    gguf={
        "qwen2": GgufForm("Qwen2ForCausalLM", "qwen2", splitting="qwen2"),
        "qwen2moe": GgufForm("Qwen2MoeForCausalLM", "qwen2_moe", values=_values, splitting="qwen2"),
        "qwen3": GgufForm("Qwen3ForCausalLM", "qwen3", splitting="qwen2"),
        "qwen3moe": GgufForm("Qwen3MoeForCausalLM", "qwen3_moe", splitting="qwen2"),
        "qwen3vl": GgufForm(
            "Qwen3VLForCausalLM", "qwen3_vl_text", values=_sections, read=("n_deepstack_layers",), splitting="qwen2"
        ),
        "qwen3vlmoe": GgufForm(
            "Qwen3VLMoeForCausalLM",
            "qwen3_vl_moe_text",
            values=_sections,
            read=("n_deepstack_layers",),
            splitting="qwen2",
        ),
        "qwen3next": _recurrent_form("Qwen3NextForCausalLM", "qwen3_next"),
        "qwen35": _recurrent_form("Qwen3_5ForCausalLM", "qwen3_5_text"),
        "qwen35moe": _recurrent_form("Qwen3_5MoeForCausalLM", "qwen3_5_moe_text"),
    },
    ends=("<|im_end|>", "<|endoftext|>"),
    tokenizers={"Qwen2Tokenizer": dict.fromkeys(("eos_token", "unk_token", "pad_token"), "<|endoftext|>")},
)
