"""Meta's Muse-Glimmer: gated attention of normed heads, which every fourth layer has over all positions, unrotated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.families.family import Family, GgufForm, Line, Values, sizes
from engine.families.gguf_values import GgufValues


def _settle(values: dict[str, Any], raw: Mapping[str, Any]) -> None:
    layers = range(values["num_hidden_layers"])
    whole = [(len(layers) - 1 - layer) % 4 == 0 for layer in layers]
    if raw.get("layer_types") is None:
        values["layer_types"] = ["full_attention" if own else "sliding_attention" for own in whole]
    thetas = values["layer_rope_theta"] or [not own for own in whole]
    values["no_rope_layers"] = [int(theta > 0) for theta in thetas]
    values["query_scale"] = None if values["use_qk_norm"] else values["qk_scale_factor"]
    values["end_norm_epsilon"] = values["post_norm_eps"]
    values["logit_scale"] = values["output_multiplier"]


def _gguf_values(file: GgufValues) -> dict[str, Any]:
    windows = file.windows()
    return {
        **windows,
        **file.soft_caps("final"),
        "layer_rope_theta": [int(kind == "sliding_attention") for kind in windows["layer_types"]],
        "output_multiplier": float(file.value("logit_scale")),
    }


def _written(values: Mapping[str, Any]) -> dict[str, Any]:
    return {"logit_scale": float(values["output_multiplier"])}


_MUSE = Family(
    "Muse-Glimmer",
    qkv_bias=None,
    output_bias=None,
    query_key_norm=None,
    sandwich_norm=True,
    norm_offset=1.0,
    plain_final_norm=True,
    normed_embedding=True,
    output_gate=True,
    soft_caps=True,
    windows="layer_types",
    tensor_prefixes=("model.language_model.",),
    text_config="text_config",
    text_types=("muse_glimmer_text",),
    ignored_prefixes=("model.vision_tower.", "model.vision_adapter.", "model.vision_projection."),
    sights=("muse-glimmer",),
)
LINE = Line(
    families={
        "MuseGlimmerForConditionalGeneration": _MUSE,
        # GGUF files have all norms as they are, and the factor of queries in a norm.
        "MuseGlimmerForCausalLM": replace(_MUSE, norm_offset=0.0, text_config=None, tensor_prefixes=("model.",)),
    },
    values={
        "muse_glimmer_text": Values(
            {
                **sizes(202_048, 131_072, 19_968, hidden=6656, layers=52, kv_heads=2, head_dim=128, epsilon=1e-5),
                "hidden_activation": "silu",
                "sliding_window": 2048,
                "attn_logit_softcapping": None,
                "final_logit_softcapping": 20.0,
                "qk_scale_factor": 3.87,
                "use_qk_norm": False,
                "output_multiplier": 26**-0.5,
                "post_norm_eps": 1e-8,
                "layer_rope_theta": None,
            },
            settle=_settle,
        )
    },
    gguf={
        "muse-glimmer": GgufForm(
            "MuseGlimmerForCausalLM",
            "muse_glimmer_text",
            values=_gguf_values,
            written=_written,
            read=("logit_scale",),
            interleaved=True,
            splitting="llama4",
        )
    },
    ends=("<|eot|>",),
)
