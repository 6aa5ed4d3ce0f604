"""Architectures that Tenon runs, and their differences from Llama.

To add a family: add a row to `SUPPORTED` if its decoder is Llama's with other values of the fields below, add its
random checkpoint to tests/support/checkpoints.py, and run tests/engine/model. A family that needs a new operation
needs a field here and a line in decoder.py; no other module knows families.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from engine.sentences import mark

#: Modules of a gated network: gate, up, down.
NETWORK = ("gate_proj", "up_proj", "down_proj")


@dataclass(frozen=True)
class FamilyExperts:
    """Facts about a family's experts that config.json leaves out: names of their tensors, and their router.

    Attributes:
        router: Module of the router.
        matrices: Modules of an expert, with its number in braces: gate, up, down.
        shared: Beginning of the modules of the network that every token takes; empty for none.
        shared_gate: Module whose number's sigmoid multiplies that network's result; empty for none.
        fused: Modules of an expert in checkpoints that have gate and up in one; empty if none have.
        biases: True if router and matrices carry biases.
        correction: Tensor that is added to scores for the choice; empty for none.
        scores: Function from the router's logits to scores.
        group_scores: Number of largest scores whose sum ranks groups of experts.
        sum_floor: Number added to the sum that weights are divided by.
        beside: True if experts take the residual stream beside the dense network, each with norms of its own (Gemma
            4).
        router_norm: Weight of the norm before the router, which divides by sqrt(hidden size) too; empty for none.
        expert_scale: Tensor whose number for a chosen expert multiplies its weight; empty for none.
    """

    router: str = "mlp.gate"
    matrices: tuple[str, ...] = tuple(f"mlp.experts.{{}}.{name}" for name in NETWORK)
    fused: tuple[str, ...] = ()
    biases: bool = False
    shared: str = ""
    shared_gate: str = ""
    correction: str = ""
    scores: Literal["softmax", "sigmoid"] = "softmax"
    group_scores: int = 2
    sum_floor: float = 0.0
    beside: bool = False
    router_norm: str = ""
    expert_scale: str = ""


@dataclass(frozen=True)
class Family:
    """Facts about an architecture that config.json leaves out.

    Attributes:
        name: Name in messages.
        qkv_bias: True if q, k and v carry biases; None if ``attention_bias`` says it.
        output_bias: True if the attention's output projection carries one; None if ``attention_bias`` says it.
        mlp_bias: True if the feed-forward network carries biases; None if ``mlp_bias`` says it.
        query_key_norm: True for an RMS norm on each query and key head before the rotation; None if ``use_qk_norm``
            says it.
        sandwich_norm: True for a second norm after attention and after the feed-forward network.
        norm_offset: Number added to each norm weight: Gemma stores w and multiplies by 1 + w.
        scaled_embedding: True if the embedding is multiplied by sqrt(hidden size), rounded to the weights' type.
        activation: Activation if config.json names another one; ``clamped_swiglu`` is OpenAI's for gpt-oss.
        sinks: True if each query head has a score that takes a share of its attention and gives nothing.
        unit_scale: True if attention scores are not scaled.
        scalar_scale: True if attention scores are scaled by ``query_pre_attn_scalar`` and not by the head's size.
        multipliers: True if embedding, attention scores, residual sums and logits have factors of their own.
        soft_caps: True if attention scores and logits may have tanh caps.
        fused_projections: True if the checkpoint stores q, k, v as one tensor and gate, up as one.
        partial_rotary: True if ``partial_rotary_factor`` of each head is rotated and the rest passes.
        value_norm: True for an RMS norm without weights on each value head.
        layer_scalar: True if each layer's output is multiplied by a number of its own.
        global_heads: True if layers that see all positions have heads of another width and number, or no values of
            their own (Gemma 4); the last layers may read another's keys and values, and rows of a second embedding
            enter each.
        windows: Layers that slide: none, all when ``sliding_window`` is set, or those that ``layer_types`` names.
        tensor_prefixes: Possible beginnings of its tensors' names; the first that fits is used.
        text_config: Part of config.json that is the decoder's config.
        text_types: Values of its ``model_type`` that Tenon runs; the first if it has none.
        ignored_prefixes: Beginnings of tensors of parts that Tenon does not run (an image encoder).
        names: Tenon's names of modules of a layer, which are Llama's, with the family's own; and of the final norm.
        convolutions: True if layers of the type ``conv`` have a gated short convolution in attention's place.
        query_only: True if layers have no keys and values and read those of the model that this one drafts for.
        experts: Facts about the experts that its layers may have.
        latent: True if keys and values are maps of a latent, which is cached in their place.
        extra_layers: True if files have layers after the last one that guess further tokens, which Tenon does not
            run.
    """

    name: str
    qkv_bias: bool | None = False
    output_bias: bool | None = False
    mlp_bias: bool | None = False
    query_key_norm: bool | None = False
    sandwich_norm: bool = False
    norm_offset: float = 0.0
    scaled_embedding: bool = False
    activation: str | None = None
    sinks: bool = False
    unit_scale: bool = False
    scalar_scale: bool = False
    multipliers: bool = False
    soft_caps: bool = False
    fused_projections: bool = False
    partial_rotary: bool = False
    value_norm: bool = False
    layer_scalar: bool = False
    global_heads: bool = False
    windows: Literal["none", "all", "layer_types"] = "none"
    tensor_prefixes: tuple[str, ...] = ("model.",)
    text_config: str | None = None
    text_types: tuple[str, ...] = ()
    ignored_prefixes: tuple[str, ...] = ()
    names: tuple[tuple[str, str], ...] = ()
    convolutions: bool = False
    query_only: bool = False
    experts: FamilyExperts | None = None
    latent: bool = False
    extra_layers: bool = False

    def named(self, module: str) -> str:
        """Return the family's name of a module."""
        return next((own for usual, own in self.names if usual == module), module)


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
_GEMMA4 = Family(
    "Gemma 4",
    qkv_bias=None,
    output_bias=None,
    query_key_norm=True,
    sandwich_norm=True,
    scaled_embedding=True,
    unit_scale=True,
    soft_caps=True,
    partial_rotary=True,
    value_norm=True,
    layer_scalar=True,
    global_heads=True,
    windows="layer_types",
    experts=FamilyExperts(
        router="router.proj",
        matrices=tuple(f"experts.{{}}.{name}" for name in NETWORK),
        fused=("experts.{}.gate_up_proj", "experts.{}.down_proj"),
        beside=True,
        router_norm="router.scale",
        expert_scale="router.per_expert_scale",
    ),
)
_GEMMA4_MULTIMODAL = replace(
    _GEMMA4,
    name=mark("Gemma 4 (text part)"),
    tensor_prefixes=("model.language_model.",),
    text_config="text_config",
    text_types=("gemma4_text",),
    ignored_prefixes=(
        *("model.vision_tower.", "model.embed_vision.", "model.vision_embedder."),
        *("model.audio_tower.", "model.embed_audio."),
    ),
)
_GRANITE = Family("Granite", qkv_bias=None, output_bias=None, mlp_bias=None, multipliers=True)
_LFM2 = Family(
    "LFM2",
    query_key_norm=True,
    names=(
        ("norm", "embedding_norm"),
        ("input_layernorm", "operator_norm"),
        ("post_attention_layernorm", "ffn_norm"),
        ("self_attn.q_norm", "self_attn.q_layernorm"),
        ("self_attn.k_norm", "self_attn.k_layernorm"),
        ("self_attn.o_proj", "self_attn.out_proj"),
        ("mlp.gate_proj", "feed_forward.w1"),
        ("mlp.up_proj", "feed_forward.w3"),
        ("mlp.down_proj", "feed_forward.w2"),
    ),
    convolutions=True,
)
_DEEPSEEK = Family(
    "DeepSeek V3",
    qkv_bias=None,
    output_bias=None,
    latent=True,
    extra_layers=True,
    experts=FamilyExperts(
        shared="mlp.shared_experts.",
        correction="mlp.gate.e_score_correction_bias",
        scores="sigmoid",
        sum_floor=1e-20,
    ),
)
#: Prefixes of checkpoints with an image encoder.
_TEXT_PART: dict[str, Any] = {
    "tensor_prefixes": ("language_model.model.", "model.language_model."),
    "text_config": "text_config",
    "ignored_prefixes": (
        "vision_tower.",
        "multi_modal_projector.",
        "model.vision_tower.",
        "model.multi_modal_projector.",
    ),
}
SUPPORTED: dict[str, Family] = {
    "LlamaForCausalLM": Family("Llama, SmolLM", qkv_bias=None, output_bias=None, mlp_bias=None),
    "SmolLM3ForCausalLM": Family(
        "SmolLM3", qkv_bias=None, output_bias=None, mlp_bias=None, windows="layer_types"
    ),
    "MistralForCausalLM": Family("Mistral", windows="all"),
    "Ministral3ForCausalLM": Family("Ministral 3", windows="all"),
    "Mistral3ForConditionalGeneration": Family(
        mark("Mistral 3 (text part)"), windows="all", text_types=("mistral", "ministral3"), **_TEXT_PART
    ),
    "Qwen2ForCausalLM": Family("Qwen2, Qwen2.5", qkv_bias=True, windows="layer_types"),
    "Qwen2MoeForCausalLM": Family(
        mark("Qwen2 with experts"),
        qkv_bias=True,
        windows="layer_types",
        experts=FamilyExperts(shared="mlp.shared_expert.", shared_gate="mlp.shared_expert_gate"),
    ),
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
    "Lfm2ForCausalLM": _LFM2,
    "Lfm2MoeForCausalLM": replace(
        _LFM2,
        name=mark("LFM2 with experts"),
        experts=FamilyExperts(
            router="feed_forward.gate",
            matrices=tuple(f"feed_forward.experts.{{}}.{name}" for name in ("w1", "w3", "w2")),
            correction="feed_forward.expert_bias",
            scores="sigmoid",
            sum_floor=1e-6,
        ),
    ),
    "DeepseekV2ForCausalLM": replace(
        _DEEPSEEK,
        name="DeepSeek V2",
        experts=FamilyExperts(shared="mlp.shared_experts.", group_scores=1),
    ),
    "DeepseekV3ForCausalLM": _DEEPSEEK,
    "Glm4MoeForCausalLM": replace(
        _DEEPSEEK, name="GLM-4.5", output_bias=False, query_key_norm=None, partial_rotary=True, latent=False
    ),
    "Glm4MoeLiteForCausalLM": replace(_DEEPSEEK, name="GLM-4.7-Flash"),
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
    ),
    "Phi3ForCausalLM": Family("Phi-3, Phi-4", fused_projections=True, partial_rotary=True, windows="all"),
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
        text_types=("gemma3_text",),
        **_TEXT_PART,
    ),
    "Gemma4ForCausalLM": _GEMMA4,
    "Gemma4ForConditionalGeneration": _GEMMA4_MULTIMODAL,
    "Gemma4UnifiedForConditionalGeneration": replace(_GEMMA4_MULTIMODAL, text_types=("gemma4_unified_text",)),
}
#: The drafts that come with Gemma 4: its layers without keys and values.
_GEMMA4_ASSISTANT = replace(
    _GEMMA4,
    name="Gemma 4",
    text_config="text_config",
    text_types=("gemma4_text", "gemma4_unified_text"),
    query_only=True,
    experts=None,
)
ASSISTANTS: dict[str, Family] = {
    "Gemma4AssistantForCausalLM": _GEMMA4_ASSISTANT,
    "Gemma4UnifiedAssistantForCausalLM": _GEMMA4_ASSISTANT,
}
