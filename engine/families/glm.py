"""Zhipu's GLM-4.5 to 4.7, with DeepSeek V3's experts, and GLM-4.7-Flash, with its attention too."""

from __future__ import annotations

from dataclasses import replace

from engine.families.deepseek import V3
from engine.families.family import LATENTS, GgufForm, Line, Values, experts, sizes
from engine.families.gguf_values import GgufValues

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
                **sizes(151_552, 131_072, 10_944, layers=46, heads=96, kv_heads=8, epsilon=1e-5),
                **experts(128, 8, 1408),
                "partial_rotary_factor": 0.5,
                "use_qk_norm": False,
                "n_shared_experts": 1,
                "first_k_dense_replace": 1,
            }
        ),
        "glm4_moe_lite": Values(
            {
                **sizes(154_880, 202_752, 10_240, hidden=2048, layers=47, heads=20, kv_heads=20, epsilon=1e-5),
                **experts(64, 4, 1536),
                **LATENTS,
                "first_k_dense_replace": 1,
                "q_lora_rank": 768,
                "qk_nope_head_dim": 192,
                "v_head_dim": 256,
                "routed_scaling_factor": 1.8,
            }
        ),
    },
    gguf={
        "glm4moe": GgufForm(
            "Glm4MoeForCausalLM",
            "glm4_moe",
            values=GgufValues.shared_experts,
            layer={"post_attention_norm": "post_attention_layernorm"},
            splitting="glm4",
        )
    },
    ends=("<|endoftext|>",),
)
