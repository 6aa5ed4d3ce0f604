"""OpenAI's gpt-oss: experts in MXFP4, sinks, and a clamped activation."""

from __future__ import annotations

from typing import Any

from engine.families.family import (
    YARN,
    Family,
    FamilyExperts,
    GgufForm,
    Line,
    Stack,
    Values,
    experts,
    sizes,
)
from engine.families.gguf_values import GgufValues


def _stacks(module: str, interleaved: bool) -> dict[str, Stack]:
    """Return the stacks as it was trained, and as published in MXFP4."""
    ends = {"": ".weight", "_bias": ".bias", "_blocks": ".weight"}
    return {
        f"mlp.experts.{module}{end}": Stack((f"mlp.experts.{{}}.{module}{own}",), end == "", interleaved)
        for end, own in ends.items()
    }


def _values(file: GgufValues) -> dict[str, Any]:
    return {**file.windows(), "rope_parameters": {**file.rope("yarn"), "truncate": False}}


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
            stacks={**_stacks("gate_up_proj", True), **_stacks("down_proj", False)},
        )
    },
    values={
        "gpt_oss": Values(
            {
                **sizes(
                    201_088,
                    131_072,
                    2880,
                    hidden=2880,
                    layers=36,
                    heads=64,
                    kv_heads=8,
                    head_dim=64,
                    epsilon=1e-5,
                ),
                **experts(128, 4),
                "attention_bias": True,
                "sliding_window": 128,
                "rope_theta": 150_000.0,
                "swiglu_alpha": 1.702,
                "swiglu_limit": 7.0,
            },
            rope={**YARN, "factor": 32.0, "truncate": False, "original_max_position_embeddings": 4096},
            alternates=True,
        )
    },
    gguf={
        "gpt-oss": GgufForm(
            "GptOssForCausalLM",
            "gpt_oss",
            ("gptoss",),
            values=_values,
            layer={"post_attention_norm": "post_attention_layernorm"},
            splitting="gpt-4o",
        )
    },
    ends=("<|return|>", "<|call|>", "<|endoftext|>"),
)
