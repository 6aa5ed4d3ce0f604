"""Zhipu's GLM-4.5 to 4.7, with DeepSeek V3's experts, and GLM-4.7-Flash, with its attention too."""

from __future__ import annotations

from dataclasses import replace

from engine.families.deepseek import V3
from engine.families.family import EXPERT_VALUES, LATENT_VALUES, Line, Values

LINE = Line(
    families={
        "Glm4MoeForCausalLM": replace(
            V3, name="GLM-4.5", output_bias=False, query_key_norm=None, partial_rotary=True, latent=False
        ),
        "Glm4MoeLiteForCausalLM": replace(V3, name="GLM-4.7-Flash"),
    },
    values={
        "glm4_moe": Values(
            {
                **EXPERT_VALUES,
                "vocab_size": 151_552,
                "intermediate_size": 10_944,
                "num_hidden_layers": 46,
                "num_attention_heads": 96,
                "num_key_value_heads": 8,
                "rms_norm_eps": 1e-5,
                "max_position_embeddings": 131_072,
                "partial_rotary_factor": 0.5,
                "use_qk_norm": False,
                "moe_intermediate_size": 1408,
                "n_shared_experts": 1,
                "first_k_dense_replace": 1,
            }
        ),
        "glm4_moe_lite": Values(
            {
                **LATENT_VALUES,
                "vocab_size": 154_880,
                "hidden_size": 2048,
                "intermediate_size": 10_240,
                "num_hidden_layers": 47,
                "num_attention_heads": 20,
                "num_key_value_heads": 20,
                "rms_norm_eps": 1e-5,
                "max_position_embeddings": 202_752,
                "num_experts_per_tok": 4,
                "moe_intermediate_size": 1536,
                "first_k_dense_replace": 1,
                "q_lora_rank": 768,
                "qk_nope_head_dim": 192,
                "v_head_dim": 256,
                "routed_scaling_factor": 1.8,
            }
        ),
    },
)
