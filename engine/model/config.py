"""A model's configuration as the decoder needs it: config.json, checked for what Tenon cannot run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.errors import ConfigInvalid, UnsupportedModel
from engine.gguf.stored_tensor import TensorTypes
from engine.model.config_values import BAD_VALUE, complete
from engine.model.families import SUPPORTED, Family, FamilyExperts
from engine.model.mixture import MOST_GROUPS, Mixture
from engine.model.rope import Rope, read_rope
from engine.sentences import mark, say
from engine.weights.checkpoint import Checkpoint
from engine.weights.checkpoint_outline import CheckpointOutline

ACTIVATIONS = {"silu": "silu", "swish": "silu", "gelu_pytorch_tanh": "gelu_tanh", "gelu": "gelu"}

_BAD_VALUE = mark("A value in config.json is missing or of the wrong kind; download it again.")
_BAD_VALUE_IN_GGUF = mark(
    "A value in the GGUF file's metadata is missing or of the wrong kind; download it again."
)


@dataclass(frozen=True)
class ModelConfig:
    """A decoder's sizes and variants. Field names follow Tenon; config.json's are in `read_config`.

    Attributes:
        architecture: ``architectures[0]``.
        family: Its row in `SUPPORTED`.
        hidden_size: Width of the residual stream, h.
        layers: Number of layers.
        heads: Query heads.
        kv_heads: Key-value heads; ``heads`` is a multiple.
        head_dim: Width of a head; heads * head_dim need not be h.
        intermediate_size: Width of the feed-forward network.
        vocabulary_size: Rows of embedding and head, V.
        context_length: Longest text, in tokens.
        norm_epsilon: Of the RMS norms.
        activation: ``silu``, ``gelu`` or ``gelu_tanh``.
        attention_scale: Multiplies the scores.
        attention_soft_cap: tanh cap of the scores, None for none.
        logit_soft_cap: tanh cap of the logits, None for none.
        embedding_scale: Multiplies the embedding, None for 1; rounded to the weights' type when applied.
        residual_scale: Multiplies what attention and the feed-forward network add to the residual stream.
        logit_scale: Multiplies the logits: of the final norm's weight, so that all who map its rows have it.
        tied: The head is the embedding.
        qkv_bias: q, k and v have biases.
        output_bias: The attention's output has one.
        mlp_bias: The feed-forward network has them.
        windows: Per layer: how many positions it sees, its own included; None for all.
        ropes: The kinds of RoPE there are.
        layer_ropes: Per layer: an index into ``ropes``, None where nothing is rotated.
        tensor_prefix: Beginning of the names of the decoder's tensors.
        quantization: A GGUF file's name of its mixture of types, such as Q4_K_M; None for plain numbers.
        types: The element types of the checkpoint's tensors; empty where they are not known.
        mixture: Experts of its layers; None for none.
    """

    architecture: str
    family: Family
    hidden_size: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate_size: int
    vocabulary_size: int
    context_length: int
    norm_epsilon: float
    activation: str
    attention_scale: float
    attention_soft_cap: float | None
    logit_soft_cap: float | None
    embedding_scale: float | None
    tied: bool
    qkv_bias: bool
    output_bias: bool
    mlp_bias: bool
    windows: tuple[int | None, ...]
    ropes: tuple[Rope, ...]
    layer_ropes: tuple[int | None, ...]
    tensor_prefix: str
    quantization: str | None = None
    types: TensorTypes = field(default_factory=TensorTypes)
    residual_scale: float = 1.0
    logit_scale: float = 1.0
    mixture: Mixture | None = None

    @property
    def query_size(self) -> int:
        """Width of all query heads."""
        return self.heads * self.head_dim

    @property
    def kv_size(self) -> int:
        """Width of all key heads, and of all value heads."""
        return self.kv_heads * self.head_dim

    @property
    def group(self) -> int:
        """Query heads that share a key-value head."""
        return self.heads // self.kv_heads


def read_config(checkpoint: Checkpoint | CheckpointOutline) -> ModelConfig:
    """Read a checkpoint's config.

    Raises:
        UnsupportedModel: The architecture, or a feature of it, is one that Tenon cannot run.
        ConfigInvalid: A value is missing or makes no sense.
    """
    family = SUPPORTED.get(checkpoint.architecture)
    if family is None:
        raise UnsupportedModel(
            say(
                "Tenon cannot run {architecture}; it runs {names}.",
                architecture=checkpoint.architecture,
                names=", ".join(SUPPORTED),
            )
        )
    _refuse_quantized(checkpoint.config)
    try:
        config = _decoder_values(checkpoint, family)
        _refuse_features(config, family)
        return _translate(checkpoint, config, family)
    except BAD_VALUE as error:
        sentence = _BAD_VALUE_IN_GGUF if checkpoint.from_gguf else _BAD_VALUE
        raise ConfigInvalid(say(sentence), details=repr(error)) from error


def _refuse_quantized(raw: dict[str, Any]) -> None:
    quantization = raw.get("quantization_config") or (raw.get("text_config") or {}).get("quantization_config")
    if quantization:
        method = quantization.get("quant_method") if isinstance(quantization, dict) else "?"
        raise UnsupportedModel(
            say(
                "This model is quantized (quantization_config, {method}), which Tenon cannot read; "
                "choose the unquantized version.",
                method=method or say("an unknown method"),
            )
        )


def _decoder_values(checkpoint: Checkpoint | CheckpointOutline, family: Family) -> dict[str, Any]:
    raw = checkpoint.config
    if family.text_config is None:
        return complete(raw, raw["model_type"])
    return complete(raw.get(family.text_config) or {}, f"{raw['model_type']}_text")


def _refuse_features(config: Mapping[str, Any], family: Family) -> None:
    activation = _activation_name(config)
    if activation not in ACTIVATIONS:
        raise UnsupportedModel(
            say(
                "Tenon has no activation {activation}; it has {names}.",
                activation=activation,
                names=", ".join(ACTIVATIONS),
            )
        )
    if config.get("use_bidirectional_attention"):
        raise UnsupportedModel(
            say(
                "Tenon runs causal models, and this one sets use_bidirectional_attention; choose another model."
            )
        )
    for feature in () if family.soft_caps else ("attn_logit_softcapping", "final_logit_softcapping"):
        if config.get(feature) is not None:
            raise UnsupportedModel(
                say(
                    "Tenon has no {feature} in {name}; choose another model.",
                    feature=feature,
                    name=say(family.name),
                )
            )
    if family.windows == "layer_types":
        unknown = set(config["layer_types"]) - {"full_attention", "sliding_attention"}
        if unknown:
            raise UnsupportedModel(
                say(
                    "Tenon has no layers of the type {unknown}; choose another model.",
                    unknown=sorted(unknown)[0],
                )
            )


def _activation_name(config: Mapping[str, Any]) -> str:
    return str(config.get("hidden_activation") or config["hidden_act"])


def _translate(
    checkpoint: Checkpoint | CheckpointOutline, config: Mapping[str, Any], family: Family
) -> ModelConfig:
    heads, kv_heads, head_dim = (
        int(config[name]) for name in ("num_attention_heads", "num_key_value_heads", "head_dim")
    )
    if heads % kv_heads or head_dim % 2 or min(heads, head_dim) < 1:
        raise ValueError(f"{heads} heads, {kv_heads} key-value heads, head_dim {head_dim}")
    layers = int(config["num_hidden_layers"])
    windows = _windows(config, family, layers)
    ropes, layer_ropes = _ropes(config, family, windows, layers)
    scale = (float(config["query_pre_attn_scalar"]) if family.scalar_scale else float(head_dim)) ** -0.5
    multipliers = family.multipliers
    attention_bias = bool(config["attention_bias"])
    mlp_bias = bool(config["mlp_bias"])
    return ModelConfig(
        architecture=checkpoint.architecture,
        family=family,
        hidden_size=int(config["hidden_size"]),
        layers=layers,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        intermediate_size=int(config["intermediate_size"]),
        vocabulary_size=int(config["vocab_size"]),
        context_length=int(config["max_position_embeddings"]),
        norm_epsilon=float(config["rms_norm_eps"]),
        activation=ACTIVATIONS[_activation_name(config)],
        attention_scale=float(config["attention_multiplier"]) if multipliers else scale,
        attention_soft_cap=config["attn_logit_softcapping"] if family.soft_caps else None,
        logit_soft_cap=config["final_logit_softcapping"] if family.soft_caps else None,
        embedding_scale=_embedding_scale(config, family),
        tied=bool(config["tie_word_embeddings"]),
        qkv_bias=attention_bias if family.qkv_bias is None else family.qkv_bias,
        output_bias=attention_bias if family.output_bias is None else family.output_bias,
        mlp_bias=mlp_bias if family.mlp_bias is None else family.mlp_bias,
        windows=windows,
        ropes=ropes,
        layer_ropes=layer_ropes,
        tensor_prefix=_tensor_prefix(checkpoint, family),
        quantization=checkpoint.quantization,
        types=checkpoint.types,
        residual_scale=float(config["residual_multiplier"]) if multipliers else 1.0,
        logit_scale=1.0 / float(config["logits_scaling"]) if multipliers else 1.0,
        mixture=None if family.experts is None else _mixture(config, family.experts, layers),
    )


def _embedding_scale(config: Mapping[str, Any], family: Family) -> float | None:
    if family.multipliers:
        return float(config["embedding_multiplier"])
    return float(config["hidden_size"]) ** 0.5 if family.scaled_embedding else None


def _mixture(config: Mapping[str, Any], family: FamilyExperts, layers: int) -> Mixture | None:
    experts, chosen = int(config["num_experts"]), int(config["num_experts_per_tok"])
    sparse = tuple(config["mlp_layer_types"][layer] == "sparse" for layer in range(layers))
    if not any(sparse):
        return None
    if chosen > experts:
        raise ConfigInvalid(
            say(
                "The model's config asks for {chosen} experts per token where there are {experts}; download it again.",
                chosen=chosen,
                experts=experts,
            )
        )
    groups, chosen_groups = int(config["n_group"]), int(config["topk_group"])
    if (
        experts % groups
        or not chosen <= chosen_groups * (experts // groups) <= experts
        or groups > MOST_GROUPS
    ):
        raise ValueError(f"{chosen} of {experts} experts in {chosen_groups} of {groups} groups")
    return Mixture(
        experts=experts,
        chosen=chosen,
        width=int(config["moe_intermediate_size"]),
        layers=sparse,
        scores=family.scores,
        normalised=bool(config["norm_topk_prob"]),
        sum_floor=family.sum_floor,
        scale=float(config["routed_scaling_factor"]),
        groups=groups,
        chosen_groups=chosen_groups,
        corrected=bool(family.correction),
        shared_width=int(config["shared_expert_intermediate_size"]) if family.shared else 0,
        shared_gate=bool(family.shared_gate),
    )


def _windows(config: Mapping[str, Any], family: Family, layers: int) -> tuple[int | None, ...]:
    window = config["sliding_window"]
    if family.windows == "none" or window is None:
        return (None,) * layers
    if family.windows == "all":
        return (int(window),) * layers
    kinds = config["layer_types"]
    return tuple(int(window) if kinds[layer] == "sliding_attention" else None for layer in range(layers))


def _ropes(
    config: Mapping[str, Any], family: Family, windows: tuple[int | None, ...], layers: int
) -> tuple[tuple[Rope, ...], tuple[int | None, ...]]:
    if "full_attention" in config["rope_parameters"]:  # Gemma 3: sliding layers have frequencies of their own
        kinds = ("full_attention", "sliding_attention")
        ropes = tuple(read_rope(config, kind, family.partial_rotary) for kind in kinds)
        return ropes, tuple(kinds.index(config["layer_types"][layer]) for layer in range(layers))
    rope = read_rope(config, None, family.partial_rotary)
    rotates = config.get("no_rope_layers") or (1,) * layers  # SmolLM3: 1 where the layer does rotate
    return (rope,), tuple(0 if rotates[layer] else None for layer in range(layers))


def _tensor_prefix(checkpoint: Checkpoint | CheckpointOutline, family: Family) -> str:
    for prefix in family.tensor_prefixes:
        if f"{prefix}embed_tokens.weight" in checkpoint.names:
            return prefix
    return family.tensor_prefixes[0]
