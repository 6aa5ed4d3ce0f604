"""Microsoft's Phi-3 and Phi-4, which keep projections in one tensor."""

from __future__ import annotations

from engine.families.family import Family, Line, Values

LINE = Line(
    families={
        "Phi3ForCausalLM": Family("Phi-3, Phi-4", fused_projections=True, partial_rotary=True, windows="all")
    },
    values={
        "phi3": Values(
            {
                "vocab_size": 32_064,
                "hidden_size": 3072,
                "intermediate_size": 8192,
                "max_position_embeddings": 4096,
                "original_max_position_embeddings": 4096,
                "rms_norm_eps": 1e-5,
                "partial_rotary_factor": 1.0,
            },
            rope_types={"su": "longrope", "yarn": "longrope"},
        )
    },
)
