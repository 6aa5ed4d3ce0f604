"""OpenAI's gpt-oss: experts in MXFP4, sinks, and a clamped activation."""

from __future__ import annotations

from engine.families.family import EXPERT_VALUES, YARN, Family, FamilyExperts, Line, Values

LINE = Line(
    families={
        "GptOssForCausalLM": Family(
            "gpt-oss",
            qkv_bias=None,
            output_bias=None,
            activation="clamped_swiglu",
            sinks=True,
            windows="layer_types",
            experts=FamilyExperts(
                router="mlp.router",
                fused=("mlp.experts.{}.gate_up_proj", "mlp.experts.{}.down_proj"),
                biases=True,
            ),
            published_in_blocks=True,
        )
    },
    values={
        "gpt_oss": Values(
            {
                **EXPERT_VALUES,
                "vocab_size": 201_088,
                "hidden_size": 2880,
                "intermediate_size": 2880,
                "num_hidden_layers": 36,
                "num_attention_heads": 64,
                "num_key_value_heads": 8,
                "head_dim": 64,
                "rms_norm_eps": 1e-5,
                "attention_bias": True,
                "sliding_window": 128,
                "max_position_embeddings": 131_072,
                "num_experts_per_tok": 4,
                "rope_theta": 150_000.0,
                "swiglu_alpha": 1.702,
                "swiglu_limit": 7.0,
            },
            rope={**YARN, "factor": 32.0, "truncate": False, "original_max_position_embeddings": 4096},
            alternates=True,
        )
    },
)
