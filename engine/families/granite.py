"""IBM's Granite, whose sums, scores and logits have factors of their own."""

from __future__ import annotations

from dataclasses import replace

from engine.families.family import (
    NETWORK,
    Family,
    FamilyExperts,
    GgufForm,
    Line,
    Stack,
    Values,
    experts,
    sizes,
)
from engine.sentences import mark

_GRANITE = Family("Granite", qkv_bias=None, output_bias=None, mlp_bias=None, multipliers=True)
_EXPERT = "block_sparse_moe.experts.{}"
_VALUES = {
    **sizes(32_000, 2048, 11_008),
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
                matrices=tuple(f"{_EXPERT}.{name}" for name in NETWORK),
            ),
            stacks={
                "block_sparse_moe.input_linear.weight": Stack(
                    (f"{_EXPERT}.gate_proj.weight", f"{_EXPERT}.up_proj.weight")
                ),
                "block_sparse_moe.output_linear.weight": Stack((f"{_EXPERT}.down_proj.weight",)),
            },
        ),
    },
    values={"granite": Values(_VALUES), "granitemoe": Values({**_VALUES, **experts(8, 2)})},
    gguf={
        "granite": GgufForm("GraniteForCausalLM", "granite", interleaved=True, splitting="dbrx"),
        "granitemoe": GgufForm("GraniteMoeForCausalLM", "granitemoe", interleaved=True, splitting="dbrx"),
    },
    ends=("<|end_of_text|>",),
)
