"""Liquid AI's LFM2 and LFM2.5: gated short convolutions in the place of most attention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.families.family import Family, FamilyExperts, GgufForm, Line, Stack, Values, experts, sizes
from engine.families.gguf_values import GgufValues
from engine.sentences import mark

_LFM2 = Family(
    "LFM2",
    query_key_norm=True,
    names=(
        ("norm", "embedding_norm"),
        ("input_layernorm", "operator_norm"),
        ("post_attention_layernorm", "ffn_norm"),
        ("self_attn.q_norm", "self_attn.q_layernorm"),
        ("self_attn.k_norm", "self_attn.k_layernorm"),
        ("self_attn.o_proj", "self_attn.out_proj"),
        ("mlp.gate_proj", "feed_forward.w1"),
        ("mlp.up_proj", "feed_forward.w3"),
        ("mlp.down_proj", "feed_forward.w2"),
    ),
    convolution="conv",
    stacks={"conv.conv.weight": Stack(("conv.conv.weight",), flat=True)},
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
    },
    gguf={
        "lfm2": GgufForm("Lfm2ForCausalLM", "lfm2", values=_dense_values, outer=_OUTER, splitting="lfm2"),
        "lfm2moe": GgufForm("Lfm2MoeForCausalLM", "lfm2_moe", values=_values, outer=_OUTER, splitting="lfm2"),
    },
    ends=("<|im_end|>",),
)
