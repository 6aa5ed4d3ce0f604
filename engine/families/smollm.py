"""Hugging Face's SmolLM3, some of whose layers rotate nothing; SmolLM and SmolLM2 are Llamas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.families.family import Family, Line, Values


def _slides(values: Mapping[str, Any], layer: int) -> bool:
    return not values["no_rope_layers"][layer]


LINE = Line(
    families={
        "SmolLM3ForCausalLM": Family(
            "SmolLM3", qkv_bias=None, output_bias=None, mlp_bias=None, windows="layer_types"
        )
    },
    values={
        "smollm3": Values(
            {
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
            slides=_slides,
        )
    },
)
