"""Microsoft's Phi-3 and Phi-4, which keep projections in one tensor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.families.family import Family, GgufForm, KnownTemplate, Line, Values, sizes
from engine.families.gguf_values import GgufValues


def _values(file: GgufValues) -> dict[str, Any]:
    own = {"sliding_window": file.value("attention.sliding_window", 0) or None}
    if "rope_factors_long.weight" in file.shapes:
        own["original_max_position_embeddings"] = file.value("rope.scaling.original_context_length")
    return own


def _written(values: Mapping[str, Any]) -> dict[str, Any]:
    return {"attention.sliding_window": int(values["sliding_window"] or 0)}


LINE = Line(
    families={"Phi3ForCausalLM": Family("Phi-3, Phi-4", fused_projections=True, partial_rotary=True, windows="all")},
    values={
        "phi3": Values(
            {
                **sizes(32_064, 4096, 8192, hidden=3072, epsilon=1e-5),
                "original_max_position_embeddings": 4096,
                "partial_rotary_factor": 1.0,
            },
            rope_types={"su": "longrope", "yarn": "longrope"},
        )
    },
    gguf={
        "phi3": GgufForm(
            "Phi3ForCausalLM",
            "phi3",
            values=_values,
            written=_written,
            splitting="gpt-4o",
            keeps_space=frozenset({"<unk>", "<s>", "<|endoftext|>"}),
        )
    },
    ends=("<|end|>", "<|endoftext|>"),
    template=KnownTemplate(
        "Phi-3",
        ("<|user|>", "<|assistant|>", "<|end|>"),
        "<|{{ m.role }}|>\n{{ m.content }}<|end|>\n",
        "<|assistant|>\n",
        "<|end|>",
    ),
)
