"""Alibaba's Qwen: Qwen2 and 2.5, Qwen3, and those with experts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.families.family import (
    Family,
    FamilyExperts,
    GgufForm,
    Line,
    TokenizerClass,
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
                **sizes(151_936, 32_768, 5632, hidden=2048, layers=24, heads=16, kv_heads=16),
                **experts(60, 4, 1408),
                **_SPARSE,
                "max_window_layers": 28,
                "shared_expert_intermediate_size": 5632,
            },
            slides=lambda values, layer: layer < values["max_window_layers"] and layer % 2 == 0,
        ),
        "qwen3": Values({**_DENSE, "head_dim": 128}, slides=_slides),
        "qwen3_moe": Values(
            {
                **sizes(151_936, 32_768, 6144, hidden=2048, layers=24, kv_heads=4),
                **experts(128, 8, 768),
                **_SPARSE,
            }
        ),
    },
    gguf={
        "qwen2": GgufForm("Qwen2ForCausalLM", "qwen2", splitting="qwen2"),
        "qwen2moe": GgufForm("Qwen2MoeForCausalLM", "qwen2_moe", values=_values, splitting="qwen2"),
        "qwen3": GgufForm("Qwen3ForCausalLM", "qwen3", splitting="qwen2"),
        "qwen3moe": GgufForm("Qwen3MoeForCausalLM", "qwen3_moe", splitting="qwen2"),
    },
    ends=("<|im_end|>", "<|endoftext|>"),
    tokenizers={
        "Qwen2Tokenizer": TokenizerClass(
            dict.fromkeys(("eos_token", "unk_token", "pad_token"), "<|endoftext|>"), "qwen2"
        )
    },
)
