"""Liquid AI's LFM2 and LFM2.5: gated short convolutions in the place of most attention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.families.family import EXPERT_VALUES, Family, FamilyExperts, Line, Values
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
    convolutions=True,
)
_VALUES = {
    "vocab_size": 65_536,
    "num_key_value_heads": 8,
    "max_position_embeddings": 128_000,
    "rms_norm_eps": 1e-5,
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
                **_VALUES,
                "hidden_size": 2560,
                "intermediate_size": 12_288,
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
                **EXPERT_VALUES,
                **_VALUES,
                "hidden_size": 2048,
                "intermediate_size": 7168,
                "moe_intermediate_size": 1792,
                "num_experts": 32,
                "num_experts_per_tok": 4,
                "num_dense_layers": 2,
                "use_expert_bias": True,
            },
            _SPELLINGS,
        ),
    },
)
