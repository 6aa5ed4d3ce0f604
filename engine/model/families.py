"""Architectures that Tenon runs, and their differences from Llama.

To add a family: add a row to `SUPPORTED` if its decoder is Llama's with other values of the fields below, add
its random checkpoint to tests/support/checkpoints.py, and run tests/engine/model. A family that needs an
operation that is not here needs a field here and a line in decoder.py; nothing else knows families.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from engine.sentences import mark

#: Modules of a gated network: gate, up, down.
NETWORK = ("gate_proj", "up_proj", "down_proj")


@dataclass(frozen=True)
class FamilyExperts:
    """Facts of a family's experts that config.json leaves unsaid: names of their tensors, and their router.

    Attributes:
        router: Module.
        matrices: Modules of an expert, its number in braces: gate, up, down.
        shared: Beginning of the modules of the network that every token takes; empty for none.
        shared_gate: Module whose number's sigmoid multiplies what that network gives; empty for none.
        correction: Tensor that is added to scores for the choice; empty for none.
        scores: What the router's logits become.
        sum_floor: Added to the sum that weights are divided by.
    """

    router: str = "mlp.gate"
    matrices: tuple[str, ...] = tuple(f"mlp.experts.{{}}.{name}" for name in NETWORK)
    shared: str = ""
    shared_gate: str = ""
    correction: str = ""
    scores: Literal["softmax", "sigmoid"] = "softmax"
    sum_floor: float = 0.0


@dataclass(frozen=True)
class Family:
    """Facts of an architecture that config.json leaves unsaid.

    Attributes:
        name: For messages.
        qkv_bias: q, k and v carry biases; None: ``attention_bias`` says it.
        output_bias: The same for the attention's output projection.
        mlp_bias: The feed-forward network carries biases; None: ``mlp_bias`` says it.
        query_key_norm: An RMS norm on each query and key head before the rotation.
        sandwich_norm: A second norm behind attention and behind the feed-forward network.
        norm_offset: Added to each norm weight: Gemma stores w and multiplies by 1 + w.
        scaled_embedding: The embedding is multiplied by sqrt(hidden size), rounded to the weights' type.
        scalar_scale: Attention scores are scaled by ``query_pre_attn_scalar`` and not by the head's size.
        multipliers: Embedding, attention scores, residual sums and logits have factors of their own.
        soft_caps: Attention scores and logits may have tanh caps.
        fused_projections: The checkpoint stores q, k, v as one tensor and gate, up as one.
        partial_rotary: ``partial_rotary_factor`` of each head is rotated and the rest passes.
        windows: Layers that slide: none, all when ``sliding_window`` is set, or those that ``layer_types``
            names.
        tensor_prefixes: Possible beginnings of its tensors' names; the first that fits is used.
        text_config: The decoder's config is this part of config.json.
        ignored_prefixes: Tensors of parts that Tenon does not run (an image encoder).
        experts: Facts of the experts that its layers may have.
    """

    name: str
    qkv_bias: bool | None = False
    output_bias: bool | None = False
    mlp_bias: bool | None = False
    query_key_norm: bool = False
    sandwich_norm: bool = False
    norm_offset: float = 0.0
    scaled_embedding: bool = False
    scalar_scale: bool = False
    multipliers: bool = False
    soft_caps: bool = False
    fused_projections: bool = False
    partial_rotary: bool = False
    windows: Literal["none", "all", "layer_types"] = "none"
    tensor_prefixes: tuple[str, ...] = ("model.",)
    text_config: str | None = None
    ignored_prefixes: tuple[str, ...] = ()
    experts: FamilyExperts | None = None


_GEMMA3 = Family(
    "Gemma 3",
    qkv_bias=None,
    output_bias=None,
    query_key_norm=True,
    sandwich_norm=True,
    norm_offset=1.0,
    scaled_embedding=True,
    scalar_scale=True,
    windows="layer_types",
)
_GRANITE = Family("Granite", qkv_bias=None, output_bias=None, mlp_bias=None, multipliers=True)
SUPPORTED: dict[str, Family] = {
    "LlamaForCausalLM": Family("Llama, SmolLM", qkv_bias=None, output_bias=None, mlp_bias=None),
    "SmolLM3ForCausalLM": Family(
        "SmolLM3", qkv_bias=None, output_bias=None, mlp_bias=None, windows="layer_types"
    ),
    "MistralForCausalLM": Family("Mistral", windows="all"),
    "Qwen2ForCausalLM": Family("Qwen2, Qwen2.5", qkv_bias=True, windows="layer_types"),
    "Qwen3ForCausalLM": Family(
        "Qwen3", qkv_bias=None, output_bias=None, query_key_norm=True, windows="layer_types"
    ),
    "Qwen3MoeForCausalLM": Family(
        mark("Qwen3 with experts"),
        qkv_bias=None,
        output_bias=None,
        query_key_norm=True,
        windows="all",
        experts=FamilyExperts(),
    ),
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
    "Phi3ForCausalLM": Family("Phi-3", fused_projections=True, partial_rotary=True, windows="all"),
    "Gemma2ForCausalLM": Family(
        "Gemma 2",
        qkv_bias=None,
        output_bias=None,
        sandwich_norm=True,
        norm_offset=1.0,
        scaled_embedding=True,
        scalar_scale=True,
        soft_caps=True,
        windows="layer_types",
    ),
    "Gemma3ForCausalLM": _GEMMA3,
    "Gemma3ForConditionalGeneration": replace(
        _GEMMA3,
        name=mark("Gemma 3 (text part)"),
        tensor_prefixes=("language_model.model.", "model.language_model."),
        text_config="text_config",
        ignored_prefixes=(
            "vision_tower.",
            "multi_modal_projector.",
            "model.vision_tower.",
            "model.multi_modal_projector.",
        ),
    ),
}
