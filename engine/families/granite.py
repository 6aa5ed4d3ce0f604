"""IBM's Granite, whose sums, scores and logits have factors of their own; Granite 4.0 H has Mamba-2 too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

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
from engine.families.gguf_values import GgufValues
from engine.families.mamba import MAMBA_LAYER, MAMBA_WHOLE, mamba, mamba_values, settle_mamba
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
_GRANITE_MOE = replace(
    _GRANITE,
    name=mark("Granite with experts"),
    mlp_bias=False,
    experts=FamilyExperts(
        router="block_sparse_moe.router.layer",
        matrices=tuple(f"{_EXPERT}.{name}" for name in NETWORK),
    ),
    stacks={
        "block_sparse_moe.input_linear.weight": Stack((f"{_EXPERT}.gate_proj.weight", f"{_EXPERT}.up_proj.weight")),
        "block_sparse_moe.output_linear.weight": Stack((f"{_EXPERT}.down_proj.weight",)),
    },
)
_SHARED = "shared_mlp."
_GRANITE_HYBRID = replace(
    _GRANITE_MOE,
    name="Granite 4.0 H",
    convolution="linear_attention",
    delta="mamba",
    names=tuple((f"mlp.{name}", _SHARED + name) for name in NETWORK),
    experts=None if _GRANITE_MOE.experts is None else replace(_GRANITE_MOE.experts, shared=_SHARED),
    stacks={
        **_GRANITE_MOE.stacks,
        f"{_SHARED}input_linear.weight": Stack((f"{_SHARED}gate_proj.weight", f"{_SHARED}up_proj.weight"), single=True),
        f"{_SHARED}output_linear.weight": Stack((f"{_SHARED}down_proj.weight",), single=True),
        "mamba.conv1d.weight": Stack(("mamba.conv1d.weight",), flat=True),
    },
)


def _settle(values: dict[str, Any], raw: Mapping[str, Any]) -> None:
    settle_mamba(values, raw.get("layer_types") or raw.get("layers_block_type"))
    if values["position_embedding_type"] != "rope":
        values["no_rope_layers"] = [0] * values["num_hidden_layers"]
    values["shared_expert_intermediate_size"] = values["shared_intermediate_size"]
    if not values["num_experts"]:
        values["intermediate_size"] = values["shared_intermediate_size"]


def _hybrid_values(file: GgufValues) -> dict[str, Any]:
    recurrent = [f"blk.{layer}.ssm_a" in file.shapes for layer in range(file.layers)]
    width = file.value("expert_shared_feed_forward_length", 0) or file.value("feed_forward_length")
    return {
        **mamba_values(file),
        **({} if file.value("expert_count", 0) else {"num_experts": 0, "num_experts_per_tok": 0}),
        "layer_types": ["mamba" if one else "attention" for one in recurrent],
        "shared_intermediate_size": int(width),
        "position_embedding_type": "rope" if file.value("rope.scaling.finetuned", True) else "nope",
    }


def _written(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "embedding_scale": float(values["embedding_multiplier"]),
        "residual_scale": float(values["residual_multiplier"]),
        "logit_scale": float(values["logits_scaling"]),
        "attention.scale": float(values["attention_multiplier"]),
    }


def _hybrid_written(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **_written(values),
        "expert_shared_feed_forward_length": int(values["shared_intermediate_size"]),
        "rope.scaling.finetuned": values["position_embedding_type"] == "rope",
    }


LINE = Line(
    families={
        "GraniteForCausalLM": _GRANITE,
        "GraniteMoeForCausalLM": _GRANITE_MOE,
        "GraniteMoeHybridForCausalLM": _GRANITE_HYBRID,
    },
    values={
        "granite": Values(_VALUES),
        "granitemoe": Values({**_VALUES, **experts(8, 2)}),
        "granitemoehybrid": Values(
            {
                **_VALUES,
                **experts(8, 2),
                **mamba(256),
                "shared_intermediate_size": 1024,
                "position_embedding_type": None,
            },
            settle=_settle,
        ),
    },
    gguf={
        "granite": GgufForm("GraniteForCausalLM", "granite", written=_written, interleaved=True, splitting="dbrx"),
        "granitemoe": GgufForm(
            "GraniteMoeForCausalLM", "granitemoe", written=_written, interleaved=True, splitting="dbrx"
        ),
        "granitehybrid": GgufForm(
            "GraniteMoeHybridForCausalLM",
            "granitemoehybrid",
            values=_hybrid_values,
            written=_hybrid_written,
            interleaved=True,
            layer=MAMBA_LAYER,
            whole=MAMBA_WHOLE,
            splitting="dbrx",
        ),
    },
    ends=("<|end_of_text|>",),
)
