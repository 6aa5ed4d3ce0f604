"""Mistral AI's Mistral, Mistral 3 and Ministral 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.families.family import (
    NO_SYSTEM,
    TEXT_PART,
    YARN,
    Family,
    GgufForm,
    KnownTemplate,
    Line,
    Thinking,
    Values,
    sizes,
)
from engine.families.gguf_values import GgufValues


def _values(file: GgufValues) -> dict[str, Any]:
    rope = file.rope()
    if rope["rope_type"] == "yarn":
        weight = float(file.value("rope.scaling.yarn_log_multiplier", 0.0))
        beta = float(file.value("attention.temperature_scale", 0.0))
        rope |= {"mscale": weight, "mscale_all_dim": weight, "llama_4_scaling_beta": beta}
    return {"rope_parameters": rope}


def _written(values: Mapping[str, Any]) -> dict[str, Any]:
    rope = values["rope_parameters"]
    return {
        "attention.temperature_scale": float(rope.get("llama_4_scaling_beta") or 0.0),
        "rope.scaling.yarn_log_multiplier": float(rope.get("mscale_all_dim") or 0.0),
    }


LINE = Line(
    families={
        "MistralForCausalLM": Family("Mistral", windows="all"),
        "Ministral3ForCausalLM": Family("Ministral 3", windows="all", sights=("pixtral",)),
        "Mistral3ForConditionalGeneration": Family(
            "Mistral 3", windows="all", text_types=("mistral", "ministral3"), sights=("pixtral",), **TEXT_PART
        ),
    },
    values={
        "mistral": Values({**sizes(32_000, 131_072, 14_336, kv_heads=8), "sliding_window": 4096}),
        "ministral3": Values(
            {
                **sizes(131_072, 262_144, 14_336, layers=34, kv_heads=8, head_dim=128, epsilon=1e-5),
                "query_beta": None,
            },
            rope={
                **YARN,
                "rope_theta": 1_000_000.0,
                "factor": 16.0,
                "original_max_position_embeddings": 16_384,
                "mscale": 1.0,
                "mscale_all_dim": 1.0,
                "llama_4_scaling_beta": 0.1,
            },
        ),
    },
    gguf={
        "mistral3": GgufForm(
            "Ministral3ForCausalLM",
            "ministral3",
            values=_values,
            written=_written,
            read=("rope.scaling.yarn_log_multiplier",),
            interleaved=True,
            splitting="tekken",
        )
    },
    ends=("</s>",),
    thinking=Thinking("[THINK]", "[/THINK]", ("[THINK]", "[/THINK]")),
    template=KnownTemplate(
        "Mistral",
        ("[INST]", "[/INST]", "</s>"),
        NO_SYSTEM + "{% if m.role == 'user' %}[INST]{{ m.content }}[/INST]{% else %}{{ m.content }}</s>{% endif %}",
        "",
        "</s>",
    ),
)
