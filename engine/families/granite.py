"""IBM's Granite, whose sums, scores and logits have factors of their own."""

from __future__ import annotations

from dataclasses import replace

from engine.families.family import EXPERT_VALUES, NETWORK, Family, FamilyExperts, Line, Values
from engine.sentences import mark

_GRANITE = Family("Granite", qkv_bias=None, output_bias=None, mlp_bias=None, multipliers=True)
_VALUES = {
    "vocab_size": 32_000,
    "intermediate_size": 11_008,
    "max_position_embeddings": 2048,
    "embedding_multiplier": 1.0,
    "attention_multiplier": 1.0,
    "residual_multiplier": 1.0,
    "logits_scaling": 1.0,
}
LINE = Line(
    families={
        "GraniteForCausalLM": _GRANITE,
        "GraniteMoeForCausalLM": replace(
            _GRANITE,
            name=mark("Granite with experts"),
            mlp_bias=False,
            experts=FamilyExperts(
                router="block_sparse_moe.router.layer",
                matrices=tuple(f"block_sparse_moe.experts.{{}}.{name}" for name in NETWORK),
            ),
        ),
    },
    values={
        "granite": Values(_VALUES),
        "granitemoe": Values({**EXPERT_VALUES, **_VALUES, "num_experts": 8, "num_experts_per_tok": 2}),
    },
)
