"""Alibaba's Qwen: Qwen2 and 2.5, Qwen3, and those with experts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.families.family import EXPERT_VALUES, Family, FamilyExperts, Line, Values
from engine.sentences import mark

_WINDOW = {
    "vocab_size": 151_936,
    "max_position_embeddings": 32_768,
    "use_sliding_window": False,
    "sliding_window": 4096,
}
_DENSE = {**_WINDOW, "intermediate_size": 22_016, "num_key_value_heads": 32, "max_window_layers": 28}
_EXPERTS = {
    **EXPERT_VALUES,
    **_WINDOW,
    "hidden_size": 2048,
    "num_hidden_layers": 24,
    "norm_topk_prob": False,
    "decoder_sparse_step": 1,
    "mlp_only_layers": None,
}


def _slides(values: Mapping[str, Any], layer: int) -> bool:
    return bool(layer >= values["max_window_layers"])


def _slides_by_turns(values: Mapping[str, Any], layer: int) -> bool:
    return bool(layer < values["max_window_layers"] and layer % 2 == 0)


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
    },
    values={
        "qwen2": Values(_DENSE, slides=_slides),
        "qwen2_moe": Values(
            {
                **_EXPERTS,
                "intermediate_size": 5632,
                "num_attention_heads": 16,
                "num_key_value_heads": 16,
                "max_window_layers": 28,
                "moe_intermediate_size": 1408,
                "shared_expert_intermediate_size": 5632,
                "num_experts": 60,
                "num_experts_per_tok": 4,
            },
            slides=_slides_by_turns,
        ),
        "qwen3": Values({**_DENSE, "head_dim": 128}, slides=_slides),
        "qwen3_moe": Values(
            {
                **_EXPERTS,
                "intermediate_size": 6144,
                "num_key_value_heads": 4,
                "moe_intermediate_size": 768,
            }
        ),
    },
)
