"""Mistral AI's Mistral, Ministral 3, and the text part of Mistral 3."""

from __future__ import annotations

from engine.families.family import TEXT_PART, YARN, Family, Line, Values
from engine.sentences import mark

LINE = Line(
    families={
        "MistralForCausalLM": Family("Mistral", windows="all"),
        "Ministral3ForCausalLM": Family("Ministral 3", windows="all"),
        "Mistral3ForConditionalGeneration": Family(
            mark("Mistral 3 (text part)"), windows="all", text_types=("mistral", "ministral3"), **TEXT_PART
        ),
    },
    values={
        "mistral": Values(
            {
                "vocab_size": 32_000,
                "intermediate_size": 14_336,
                "num_key_value_heads": 8,
                "max_position_embeddings": 131_072,
                "sliding_window": 4096,
            }
        ),
        "ministral3": Values(
            {
                "vocab_size": 131_072,
                "intermediate_size": 14_336,
                "num_hidden_layers": 34,
                "num_key_value_heads": 8,
                "head_dim": 128,
                "rms_norm_eps": 1e-5,
                "max_position_embeddings": 262_144,
                "query_beta": None,
            },
            rope={
                **YARN,
                "rope_theta": 1_000_000.0,
                "factor": 16.0,
                "original_max_position_embeddings": 16_384,
                "mscale": 1.0,
                "mscale_all_dim": 1.0,
                "llama_4_scaling_beta": 0.1,
            },
        ),
    },
)
