"""DeepSeek's V2 and V3: attention over latents, and experts chosen in groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.errors import UnsupportedModel
from engine.families.family import LATENTS, Family, FamilyExperts, GgufForm, Line, Values, experts, sizes
from engine.families.gguf_values import GgufValues

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
_SIGMOID = 2


def _values(file: GgufValues) -> dict[str, Any]:
    """Return the attention: the file has sizes of the cached latent, and those of a head beside them."""
    if "blk.0.attn_k_b.weight" not in file.shapes:
        raise UnsupportedModel(
            "This GGUF file is of an older kind, which has each head's keys and values in one tensor "
            "(attn_kv_b); choose a newer conversion of this model."
        )
    rotated, shared, rope = int(file.value("rope.dimension_count")), file.shared_experts(), file.rope()
    rope.pop("partial_rotary_factor", None)  # the rotated channels are not a part of others
    # Ollama's files of GLM-4.7-Flash have the sizes of a head where others have those of the latent.
    of_head = "_mla" if file.prefix == "deepseek2" else ""
    if rope["rope_type"] == "yarn":  # the file has a tenth
        weight = 10 * float(file.value("rope.scaling.yarn_log_multiplier", 0.0))
        rope |= {"mscale": weight, "mscale_all_dim": weight}
    chosen_by = int(file.value("expert_gating_func", 0))
    # Files that do not say how experts are chosen have a correction if it is by sigmoids.
    v2 = chosen_by != _SIGMOID if chosen_by else not file.corrected
    return {
        **({"architectures": ["DeepseekV2ForCausalLM"], "model_type": "deepseek_v2"} if v2 else {}),
        **shared,
        "norm_topk_prob": bool(file.value("expert_weights_norm", False)),
        "kv_lora_rank": int(file.value("attention.kv_lora_rank")),
        "q_lora_rank": int(file.value("attention.q_lora_rank", 0)) or None,
        "qk_rope_head_dim": rotated,
        "qk_nope_head_dim": int(file.value(f"attention.key_length{of_head}")) - rotated,
        "v_head_dim": int(file.value(f"attention.value_length{of_head}")),
        "topk_method": "greedy" if shared["n_group"] == 1 else "group_limited_greedy",
        "rope_parameters": rope,
    }


def _written(values: Mapping[str, Any]) -> dict[str, Any]:
    weight = values["rope_parameters"].get("mscale_all_dim")
    return {"rope.scaling.yarn_log_multiplier": 0.1 * weight} if weight else {}


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
                **sizes(102_400, 2048, 11_008),
                **experts(64, None, 1407),
                **LATENTS,
                "n_shared_experts": 2,
                "n_group": None,
                "topk_group": None,
                "topk_method": "greedy",
                "norm_topk_prob": False,
            }
        ),
        "deepseek_v3": Values(
            {
                **sizes(129_280, 4096, 18_432, hidden=7168, layers=61, heads=128, kv_heads=128),
                **experts(256, 8, 2048),
                **LATENTS,
                "first_k_dense_replace": 3,
                "routed_scaling_factor": 2.5,
                "n_group": 8,
                "topk_group": 4,
            }
        ),
    },
    gguf={
        "deepseek2": GgufForm(
            "DeepseekV3ForCausalLM",
            "deepseek_v3",
            ("glm4moelite",),
            ("deepseek_v2", "glm4_moe_lite"),
            _values,
            _written,
            read=("rope.scaling.yarn_log_multiplier",),
            splitting="deepseek-v3",
        )
    },
    ends=("<｜end▁of▁sentence｜>",),
)
