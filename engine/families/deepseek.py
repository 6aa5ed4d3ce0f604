"""DeepSeek's V2 and V3: attention over latents, and experts chosen in groups."""

from __future__ import annotations

from dataclasses import replace

from engine.families.family import LATENT_VALUES, Family, FamilyExperts, Line, Values

V3 = Family(
    "DeepSeek V3",
    qkv_bias=None,
    output_bias=None,
    latent=True,
    extra_layers=True,
    experts=FamilyExperts(
        shared="mlp.shared_experts.",
        correction="mlp.gate.e_score_correction_bias",
        scores="sigmoid",
        sum_floor=1e-20,
    ),
)
LINE = Line(
    families={
        "DeepseekV2ForCausalLM": replace(
            V3, name="DeepSeek V2", experts=FamilyExperts(shared="mlp.shared_experts.", group_scores=1)
        ),
        "DeepseekV3ForCausalLM": V3,
    },
    values={
        "deepseek_v2": Values(
            {
                **LATENT_VALUES,
                "vocab_size": 102_400,
                "intermediate_size": 11_008,
                "max_position_embeddings": 2048,
                "num_experts_per_tok": None,
                "moe_intermediate_size": 1407,
                "n_shared_experts": 2,
                "n_group": None,
                "topk_group": None,
                "topk_method": "greedy",
                "norm_topk_prob": False,
            }
        ),
        "deepseek_v3": Values(
            {
                **LATENT_VALUES,
                "vocab_size": 129_280,
                "hidden_size": 7168,
                "intermediate_size": 18_432,
                "num_hidden_layers": 61,
                "num_attention_heads": 128,
                "num_key_value_heads": 128,
                "max_position_embeddings": 4096,
                "num_experts": 256,
                "moe_intermediate_size": 2048,
                "first_k_dense_replace": 3,
                "routed_scaling_factor": 2.5,
                "n_group": 8,
                "topk_group": 4,
            }
        ),
    },
)
