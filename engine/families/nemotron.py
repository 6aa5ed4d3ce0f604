"""NVIDIA's Nemotron-H and Nemotron 3: each layer is Mamba-2, attention without RoPE, a network or experts alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.families.family import NETWORK, Family, FamilyExperts, GgufForm, Line, Stack, Values, experts, sizes
from engine.families.gguf_values import GgufValues
from engine.families.mamba import MAMBA_LAYER, MAMBA_WHOLE, mamba, mamba_values, settle_mamba

_ATTENTION = ("q_proj", "k_proj", "v_proj", "o_proj")
#: Kinds of layers by the letters of older configs.
_LETTERS = {"M": "mamba", "*": "full_attention", "-": "mlp", "E": "moe"}
_NEMOTRON = Family(
    "Nemotron-H",
    qkv_bias=None,
    output_bias=None,
    mlp_bias=None,
    names=(
        ("embed_tokens", "embeddings"),
        ("norm", "norm_f"),
        ("input_layernorm", "norm"),
        ("post_attention_layernorm", "norm"),
        ("mamba", "mixer"),
        *((f"mamba.{name}", f"mixer.{name}") for name in ("in_proj", "conv1d", "norm", "out_proj")),
        *((f"self_attn.{name}", f"mixer.{name}") for name in _ATTENTION),
        *((f"mlp.{name}", f"mixer.{name}") for name in NETWORK),
    ),
    tensor_prefixes=("backbone.", "model."),
    extra_layers=True,
    convolution="linear_attention",
    delta="mamba",
    single=True,
    gated_network=False,
    stacks={"mixer.conv1d.weight": Stack(("mixer.conv1d.weight",), flat=True)},
    experts=FamilyExperts(
        router="mixer.gate",
        matrices=tuple(f"mixer.experts.{{}}.{name}" for name in NETWORK[1:]),
        correction="mixer.gate.e_score_correction_bias",
        scores="sigmoid",
        sum_floor=1e-20,
        shared="mixer.shared_experts.",
        latent=("mixer.fc1_latent_proj", "mixer.fc2_latent_proj"),
    ),
)


def _settle(values: dict[str, Any], raw: Mapping[str, Any]) -> None:
    kinds = raw.get("layers_block_type") or raw.get("layer_types")
    if kinds is None:
        kinds = [_LETTERS.get(letter, letter) for letter in raw.get("hybrid_override_pattern", "ME*-")]
    values["num_hidden_layers"] = len(kinds)
    settle_mamba(values, kinds)
    values["mlp_layer_types"] = ["sparse" if kind == "moe" else "dense" for kind in kinds]
    values["no_rope_layers"] = [0] * len(kinds)


def _values(file: GgufValues) -> dict[str, Any]:
    def kind(layer: int) -> str:
        parts = {"ssm_a": "mamba", "ffn_gate_inp.weight": "moe", "ffn_up.weight": "mlp"}
        return next((own for part, own in parts.items() if f"blk.{layer}.{part}" in file.shapes), "full_attention")

    kinds = [kind(layer) for layer in range(file.layers)]
    return {
        **mamba_values(file),
        "layers_block_type": kinds,
        "intermediate_size": max(file.each("feed_forward_length")),
        "moe_shared_expert_intermediate_size": int(file.value("expert_shared_feed_forward_length", 0)),
        "moe_latent_size": int(file.value("moe_latent_size", 0)) or None,
        "n_group": int(file.value("expert_group_count", 1)),
        "attention_bias": any(name.endswith("attn_q.bias") for name in file.shapes),
        "mlp_bias": any(name.endswith("ffn_up.bias") for name in file.shapes),
        "mlp_hidden_act": "relu2",
        "rope_parameters": {},
    }


def _written(values: Mapping[str, Any]) -> dict[str, Any]:
    kinds = values["layer_types"]
    widths = {"mlp": values["intermediate_size"], "moe": values["moe_intermediate_size"]}
    return {
        "feed_forward_length": [int(widths.get(kind, 0)) for kind in kinds],
        "attention.head_count_kv": [values["num_key_value_heads"] if kind == "full_attention" else 0 for kind in kinds],
        "attention.layer_norm_epsilon": float(values["rms_norm_eps"]),
        "moe_latent_size": values["moe_latent_size"],
        "rope.freq_base": None,
        "rope.dimension_count": None,
        "rope.scaling.finetuned": False,
    }


_FORM = GgufForm(
    "NemotronHForCausalLM",
    "nemotron_h",
    values=_values,
    written=_written,
    layer={**MAMBA_LAYER, "ffn_latent_down": "mixer.fc1_latent_proj", "ffn_latent_up": "mixer.fc2_latent_proj"},
    whole={
        **{name: module.replace("mamba", "mixer") for name, module in MAMBA_WHOLE.items()},
        # For the layer that drafts (MTP), whose two halves are one block in GGUF
        "post_attention_norm.weight": "post_attention_layernorm.weight",
    },
    outer={"token_embd": "model.embeddings"},
)
LINE = Line(
    families={"NemotronHForCausalLM": _NEMOTRON},
    values={
        "nemotron_h": Values(
            {
                **sizes(131_072, 4096, 21_504, layers=4, kv_heads=8, head_dim=128, epsilon=1e-5),
                **experts(8, 2, 7688),
                **mamba(128, groups=8),
                "mamba_d_head": 64,
                "hidden_act": "relu2",
                "shared_expert_intermediate_size": 7688,
                "moe_latent_size": None,
            },
            {
                "layer_norm_epsilon": "rms_norm_eps",
                "mlp_hidden_act": "hidden_act",
                "mamba_num_heads": "mamba_n_heads",
                "mamba_head_dim": "mamba_d_head",
                "n_groups": "mamba_n_groups",
                "ssm_state_size": "mamba_d_state",
                "conv_kernel": "mamba_d_conv",
                "expand": "mamba_expand",
                "use_conv_bias": "mamba_conv_bias",
                "use_bias": "mamba_proj_bias",
                "moe_shared_expert_intermediate_size": "shared_expert_intermediate_size",
            },
            settle=_settle,
        )
    },
    gguf={"nemotron_h": _FORM, "nemotron_h_moe": _FORM},
    ends=("<|im_end|>",),
)
