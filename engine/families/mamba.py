"""Mamba-2, which hybrids of several makers have: its values in config.json and GGUF files, and its tensors' names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from engine.families.gguf_values import GgufValues

#: Modules of a layer, and its tensors with other names, by llama.cpp's names.
MAMBA_LAYER = {
    "ssm_in": "mamba.in_proj",
    "ssm_conv1d": "mamba.conv1d",
    "ssm_norm": "mamba.norm",
    "ssm_out": "mamba.out_proj",
}
MAMBA_WHOLE = {"ssm_a": "mamba.A_log", "ssm_d": "mamba.D", "ssm_dt.bias": "mamba.dt_bias"}
_RECURRENT = "linear_attention"
#: Kinds of layers by the names that older configs have for them.
_KINDS = {"mamba": _RECURRENT, "attention": "full_attention"}


def mamba(state: int, groups: int = 1, heads: int = 128) -> dict[str, Any]:
    """Return the values of every config with Mamba-2, by their keys."""
    return {
        "mamba_n_heads": heads,
        "mamba_n_groups": groups,
        "mamba_d_state": state,
        "mamba_d_conv": 4,
        "mamba_expand": 2,
        "mamba_conv_bias": True,
        "mamba_proj_bias": False,
        "time_step_limit": None,
    }


def settle_mamba(values: dict[str, Any], kinds: Sequence[str] | None) -> None:
    """Settle the kinds of layers, and Mamba-2's sizes as those of gated DeltaNet: B, C and x are keys, queries, values.

    Args:
        values: Values of config.json, which are changed.
        kinds: Kinds of the layers, None if all have Mamba-2.
    """
    layers = values["num_hidden_layers"]
    values["layer_types"] = [_KINDS.get(kind, kind) for kind in kinds or [_RECURRENT] * layers]
    least, most = values["time_step_limit"] or (0.0, math.inf)
    most = most["__float__"] if isinstance(most, dict) else most  # transformers' spelling
    if float(least) <= 0.0 and math.isinf(float(most)):
        values["time_step_limit"] = None
    inner = values["mamba_expand"] * values["hidden_size"]
    width = values.get("mamba_d_head", "auto")
    values |= {
        "linear_conv_kernel_dim": values["mamba_d_conv"],
        "linear_key_head_dim": values["mamba_d_state"],
        "linear_value_head_dim": inner // values["mamba_n_heads"] if width == "auto" else width,
        "linear_num_key_heads": values["mamba_n_groups"],
        "linear_num_value_heads": values["mamba_n_heads"],
    }


def mamba_values(file: GgufValues) -> dict[str, Any]:
    """Return Mamba-2's sizes of a GGUF file."""
    heads = int(file.value("ssm.time_step_rank"))
    return {
        "num_key_value_heads": max(file.each("attention.head_count_kv")),
        "mamba_n_heads": heads,
        "mamba_n_groups": int(file.value("ssm.group_count")),
        "mamba_d_state": int(file.value("ssm.state_size")),
        "mamba_d_head": int(file.value("ssm.inner_size")) // heads,
        "mamba_d_conv": int(file.value("ssm.conv_kernel")),
        "linear_decays": True,
    }
