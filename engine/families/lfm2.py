"""Liquid AI's LFM2, LFM2.5 and LFM3: gated short convolutions in the place of most attention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.errors import UnsupportedModel
from engine.families.family import (
    TEXT_PART,
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

_NAMES = (
    ("norm", "embedding_norm"),
    ("input_layernorm", "operator_norm"),
    ("mlp.gate_proj", "feed_forward.w1"),
    ("mlp.up_proj", "feed_forward.w3"),
    ("mlp.down_proj", "feed_forward.w2"),
)
_LFM2 = Family(
    "LFM2",
    query_key_norm=True,
    names=(
        *_NAMES,
        ("post_attention_layernorm", "ffn_norm"),
        ("self_attn.q_norm", "self_attn.q_layernorm"),
        ("self_attn.k_norm", "self_attn.k_layernorm"),
        ("self_attn.o_proj", "self_attn.out_proj"),
    ),
    convolution="conv",
    sights=("lfm2",),
    stacks={"conv.conv.weight": Stack(("conv.conv.weight",), flat=True)},
)
_LFM3 = replace(
    _LFM2,
    name="LFM3",
    sights=(),
    sandwich_norm=True,
    output_gate="heads",
    partial_rotary=True,
    windows="layer_types",
    names=(
        *_NAMES,
        ("post_attention_layernorm", "post_operator_norm"),
        ("pre_feedforward_layernorm", "ffn_norm"),
        ("post_feedforward_layernorm", "post_ffn_norm"),
    ),
)
_VALUES = {
    "tie_word_embeddings": True,
    "rope_theta": 1_000_000.0,
    "conv_bias": False,
    "conv_L_cache": 3,
}
_SPELLINGS = {
    "norm_eps": "rms_norm_eps",
    "tie_embedding": "tie_word_embeddings",
    "block_ff_dim": "intermediate_size",
}


def _settle(values: dict[str, Any], raw: Mapping[str, Any]) -> None:
    """Settle the layers' kinds, and the width of the networks: two thirds of the config's, in whole pieces."""
    attends = values["full_attn_idxs"]
    if raw.get("layer_types") is None and attends is not None:
        values["layer_types"] = [
            "full_attention" if layer in attends else "conv" for layer in range(values["num_hidden_layers"])
        ]
    if not values["block_auto_adjust_ff_dim"]:
        return
    width = int(2 * values["intermediate_size"] / 3)
    if values["block_ffn_dim_multiplier"] is not None:
        piece = int(values["block_multiple_of"])
        width = -(-int(values["block_ffn_dim_multiplier"] * width) // piece) * piece
    values["intermediate_size"] = width


def _settle_lfm3(values: dict[str, Any], raw: Mapping[str, Any]) -> None:
    """Settle the layers' kinds: of four each second one convolves, and the others by turns see a window and all."""
    for feature in ("use_sandwich_norm", "use_attention_gate"):
        if not values[feature]:
            raise UnsupportedModel(
                "Tenon runs LFM3 with {feature} alone, and this model is without; choose another model.",
                feature=feature,
            )
    if raw.get("layer_types") is None:
        kinds = ("sliding_attention", "conv", "full_attention", "conv")
        values["layer_types"] = ["conv", *(kinds[layer % 4] for layer in range(1, values["num_hidden_layers"]))]


_OUTER = {"token_embd_norm": "model.embedding_norm"}


def _values(file: GgufValues) -> dict[str, Any]:
    heads = file.each("attention.head_count_kv")
    return {
        "num_key_value_heads": max(heads),
        "layer_types": ["full_attention" if own else "conv" for own in heads[: file.layers]],
        "conv_L_cache": int(file.value("shortconv.l_cache")),
        "use_expert_bias": file.corrected,
    }


def _dense_values(file: GgufValues) -> dict[str, Any]:
    gate = file.shapes.get("blk.0.ffn_gate.weight")  # Ollama's files may say another number
    width = {} if gate is None else {"intermediate_size": gate[0]}
    return {**_values(file), **width, "block_auto_adjust_ff_dim": False}


LINE = Line(
    families={
        "Lfm2ForCausalLM": _LFM2,
        "Lfm2VlForConditionalGeneration": replace(_LFM2, text_types=("lfm2",), **TEXT_PART),
        "Lfm2MoeForCausalLM": replace(
            _LFM2,
            name=mark("LFM2 with experts"),
            experts=FamilyExperts(
                router="feed_forward.gate",
                matrices=tuple(f"feed_forward.experts.{{}}.{name}" for name in ("w1", "w3", "w2")),
                correction="feed_forward.expert_bias",
                scores="sigmoid",
                sum_floor=1e-6,
            ),
        ),
        "Lfm3ForCausalLM": _LFM3,
        "Lfm3VlForConditionalGeneration": replace(
            _LFM3, name=mark("LFM3 (text part)"), text_types=("lfm3",), **TEXT_PART
        ),
    },
    values={
        "lfm2": Values(
            {
                **sizes(65_536, 128_000, 12_288, hidden=2560, kv_heads=8, epsilon=1e-5),
                **_VALUES,
                "block_multiple_of": 256,
                "block_ffn_dim_multiplier": 1.0,
                "block_auto_adjust_ff_dim": True,
                "full_attn_idxs": None,
            },
            _SPELLINGS,
            settle=_settle,
        ),
        "lfm2_moe": Values(
            {
                **sizes(65_536, 128_000, 7168, hidden=2048, kv_heads=8, epsilon=1e-5),
                **experts(32, 4, 1792),
                **_VALUES,
                "num_dense_layers": 2,
                "use_expert_bias": True,
            },
            _SPELLINGS,
        ),
        "lfm3": Values(
            {
                **sizes(
                    128_000, 128_000, 7680, hidden=2048, layers=24, heads=16, kv_heads=4, head_dim=128, epsilon=1e-5
                ),
                **_VALUES,
                "conv_L_cache": 7,
                "sliding_window": 256,
                "use_sandwich_norm": True,
                "use_attention_gate": True,
            },
            _SPELLINGS,
            rope={
                "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
                "full_attention": {"rope_type": "proportional", "rope_theta": 1e6, "partial_rotary_factor": 0.5},
            },
            settle=_settle_lfm3,
        ),
    },
    gguf={
        "lfm2": GgufForm("Lfm2ForCausalLM", "lfm2", values=_dense_values, outer=_OUTER, splitting="lfm2"),
        "lfm2moe": GgufForm("Lfm2MoeForCausalLM", "lfm2_moe", values=_values, outer=_OUTER, splitting="lfm2"),
    },
    ends=("<|im_end|>",),
)
