"""A model's configuration as the decoder needs it: config.json, checked for what Tenon cannot run."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from engine.errors import ConfigInvalid, TensorMismatch, UnsupportedModel
from engine.families import SUPPORTED
from engine.families.family import Family, FamilyExperts
from engine.gguf.stored_tensor import TensorTypes
from engine.model.attention import SCORES_LIMIT_BYTES
from engine.model.config_values import BAD_VALUE, complete
from engine.model.mixture import MOST_GROUPS, Mixture
from engine.model.rope import Rope, read_rope
from engine.sentences import mark, say
from engine.weights.checkpoint import Checkpoint, CheckpointOutline
from engine.weights.quantized_checkpoint import settings_of

#: Twice as many as the largest model has; a list of so many takes a second.
_MOST_PARTS = 1 << 16
#: Constants of gpt-oss's activation.
_CLAMPED = {"swiglu_alpha": 1.702, "swiglu_limit": 7.0}
ACTIVATIONS = {"silu": "silu", "swish": "silu", "gelu_pytorch_tanh": "gelu_tanh", "gelu": "gelu"}
#: Activations of networks without a gate.
_UNGATED = {"relu2": "relu2"}

#: Kinds of layers that have no attention, where a layer has only one part.
_NETWORKS = {"mlp", "moe"}

_BAD_VALUE = mark("A value in config.json is missing or of the wrong kind; correct it, or choose another model.")
_BAD_VALUE_IN_GGUF = mark(
    "A value in the GGUF file's metadata is missing or of the wrong kind; choose another file of this model."
)


@dataclass(frozen=True)
class Latent:
    """Sizes of attention over latents."""

    rank: int  # width of the cached vector for keys and values of all heads
    rotated: int  # channels of keys that are rotated, cached beside it and shared by all heads
    plain: int  # channels of a head's queries and keys that are not rotated
    values: int  # width of a head's values
    query_rank: int = 0  # width that queries are mapped through; 0 if they are mapped directly
    # True if channels 2i and 2i + 1 turn into each other, and not i and i + rotated / 2
    interleaved: bool = True

    @property
    def width(self) -> int:
        """Numbers of a token that are cached."""
        return self.rank + self.rotated

    @property
    def query_width(self) -> int:
        """Width of a head's query."""
        return self.plain + self.rotated

    def expands(self, rows: int, seen: int) -> bool:
        """Return whether so many new rows take less arithmetic if keys and values of all seen rows are mapped first.

        The mapped rows of one head must fit in the memory that scores may take.
        """
        mapped = self.query_width + self.values
        each = (self.plain + self.values) * self.rank
        few = rows * (seen * (self.rank + self.width) + each)
        return seen * (rows * mapped + each) < few and 4 * seen * (mapped + self.rank) <= SCORES_LIMIT_BYTES


@dataclass(frozen=True)
class DeltaNet:
    """Sizes of gated DeltaNet; or of Mamba-2, whose B, C and x are keys, queries and values here."""

    key_heads: int  # heads of queries and keys
    heads: int  # heads of values; a multiple of ``key_heads``
    key_dim: int  # width of a query, and of a key
    value_dim: int  # width of a value
    # True if head h of values has the queries and keys of head h modulo ``key_heads``, and not of neighbours
    tiled: bool = False
    joined: bool = False  # True if the checkpoint has queries, keys, values and output gates joined by key heads
    paired: bool = False  # True if it has the gates of writing and of decay joined by key heads
    decays: bool = False  # True if it has the decays themselves, and not the logarithms of their absolute values
    # True if what the state has for a key is taken off before a value is written. Mamba-2 takes nothing off, norms no
    # queries and keys, and norms results together for each head of keys, after their gates.
    corrects: bool = True

    @property
    def keys(self) -> int:
        """Width of all keys, and of all queries."""
        return self.key_heads * self.key_dim

    @property
    def values(self) -> int:
        """Width of all values."""
        return self.heads * self.value_dim

    @property
    def channels(self) -> int:
        """Channels of the convolution: queries, keys and values, or the same in the opposite order for Mamba-2."""
        return 2 * self.keys + self.values


@dataclass(frozen=True)
class LayerShape:
    """Sizes of a layer that differ from the other layers'."""

    kv_heads: int  # key-value heads
    head_dim: int  # width of a head
    intermediate_size: int  # width of the feed-forward network
    values_are_keys: bool = False  # True if values are what keys were mapped to, before norm and rotation
    keys_of: int | None = None  # the layer whose keys and values it reads instead of its own, or None


@dataclass(frozen=True)
class ModelConfig:
    """A decoder's sizes and variants. Field names are Tenon's; config.json's are in `read_config`."""

    architecture: str  # ``architectures[0]``
    family: Family  # row of the family in `SUPPORTED`
    hidden_size: int  # width of the residual stream, h
    layers: int  # number of layers
    heads: int  # query heads
    kv_heads: int  # key-value heads; ``heads`` is a multiple of them. Latents count as one.
    # Width of a head; heads * head_dim need not be h. For latents the width of all that is cached.
    head_dim: int
    intermediate_size: int  # width of the feed-forward network
    vocabulary_size: int  # rows of embedding and head, V
    context_length: int  # longest text, in tokens
    norm_epsilon: float  # epsilon of the RMS norms
    activation: str  # ``silu``, ``gelu``, ``gelu_tanh``, ``relu2`` or ``clamped_swiglu``
    attention_scale: float  # multiplies the scores
    attention_soft_cap: float | None  # tanh cap of the scores, or None for none
    logit_soft_cap: float | None  # tanh cap of the logits, or None for none
    # Factor of the embedding, None for 1; rounded to the weights' type when applied
    embedding_scale: float | None
    tied: bool  # True if the head is the embedding
    qkv_bias: bool  # True if q, k and v have biases
    output_bias: bool  # True if the attention's output has a bias
    mlp_bias: bool  # True if the feed-forward network has biases
    # Number of positions that each layer sees, the row's own included; None for all
    windows: tuple[int | None, ...]
    ropes: tuple[Rope, ...]  # the kinds of RoPE that layers have
    layer_ropes: tuple[int | None, ...]  # index into ``ropes`` for each layer, or None if nothing is rotated
    tensor_prefix: str  # beginning of the names of the decoder's tensors
    # A GGUF file's name of its mixture of types, such as Q4_K_M; None for plain numbers
    quantization: str | None = None
    # Element types of the checkpoint's tensors, or those that they become; empty if they are not known
    types: TensorTypes = field(default_factory=TensorTypes)
    # True if matrices are in a format of others, and become these types slower than they are read
    converts: bool = False
    reorders: bool = False  # True if rows are woven, and put in order slower than they are read
    # Factor of the results that attention and the feed-forward network add to the residual stream
    residual_scale: float = 1.0
    # Factor of the logits; it is applied by the final norm's weight, so that everybody who maps its rows has it
    logit_scale: float = 1.0
    mixture: Mixture | None = None  # experts of its layers, or None
    convolution: int = 0  # rows that a short convolution takes, its own included; 0 for none
    # True for each layer that has a convolution in attention's place; empty if none has
    convolutions: tuple[bool, ...] = ()
    # True for each layer that is a network or experts alone, where the others have none; empty if each layer has both
    networks: tuple[bool, ...] = ()
    delta: DeltaNet | None = None  # gated DeltaNet after these convolutions, or None for a gated convolution alone
    # Shape of each layer if they differ; empty if all are alike. See `of_layer`.
    shapes: tuple[LayerShape, ...] = ()
    values_are_keys: bool = False  # True if values are what keys were mapped to, as in `LayerShape`
    keys_of: int | None = None  # the layer whose keys and values it reads, as in `LayerShape`
    input_width: int = 0  # width of a layer's own rows of a second embedding (Gemma 4's E models); 0 for none
    input_vocabulary: int = 0  # rows of that embedding
    latent: Latent | None = None  # sizes of attention over latents, or None if keys and values are cached
    # Factor of queries after norms without weights on each query and key head; None for none of both
    query_scale: float | None = None
    # Epsilon of the norms before the residual sums; None for that of the others
    end_norm_epsilon: float | None = None
    tower_weights: int = 0  # numbers of what turns pictures into its rows; 0 if it does not see
    tower_work_bytes: int = 0  # bytes that this takes beside its weights while it reads a picture

    def tower_bytes(self, exact: bool) -> int:
        """Return the bytes of the tower's weights: of 16 bits, or exact in float32."""
        return self.tower_weights * (4 if exact else 2)

    def of_layer(self, index: int) -> ModelConfig:
        """Return the config with the sizes of one layer in place of those of most."""
        return replace(self, **vars(self.shapes[index]), shapes=()) if self.shapes else self

    @property
    def cache_shapes(self) -> tuple[tuple[int, int] | int | None, ...]:
        """Key-value heads and their width for each layer, the layer whose keys and values it reads, or None."""
        if not self.shapes:
            heads = self.kv_heads, self.head_dim
            return tuple(heads if self.attends(layer) else None for layer in range(self.layers))
        return tuple(
            (shape.kv_heads, shape.head_dim) if shape.keys_of is None else shape.keys_of for shape in self.shapes
        )

    @property
    def parts(self) -> int:
        """Number of layers, heads and experts that have tensors of their own."""
        heads = self.heads * self.layers if self.latent is not None else 0
        return self.layers + heads + (0 if self.mixture is None else self.mixture.experts * sum(self.mixture.layers))

    def last_keys(self, slides: bool) -> int:
        """Return the last layer with keys and values of its own that has a window, or that has none.

        Raises:
            ValueError: There is no such layer.
        """
        own = (layer for layer, shape in enumerate(self.cache_shapes) if isinstance(shape, tuple))
        return max(layer for layer in own if (self.windows[layer] is not None) == slides)

    @property
    def computes_beside_layers(self) -> bool:
        """True if torch computes something outside the kernel library's layers, or keeps states for them."""
        outside = self.logit_soft_cap is not None or self.input_width or self.family.normed_embedding
        return bool(outside or self.convolution)

    @property
    def cache_parts(self) -> int:
        """Number of tensors in a layer's cache: keys and values, or latents that both are maps of."""
        return 2 if self.latent is None else 1

    def convolves(self, layer: int) -> bool:
        """Return whether a layer has a convolution in attention's place."""
        return bool(self.convolutions) and self.convolutions[layer]

    def mixes(self, layer: int) -> bool:
        """Return whether a layer has attention, or a convolution in its place."""
        return not self.networks or not self.networks[layer]

    def attends(self, layer: int) -> bool:
        """Return whether a layer has attention."""
        return self.mixes(layer) and not self.convolves(layer)

    def maps(self, layer: int) -> bool:
        """Return whether a layer has a feed-forward network or experts."""
        return not self.networks or self.networks[layer]

    @property
    def channels(self) -> int:
        """Channels of a layer's convolution."""
        return self.hidden_size if self.delta is None else self.delta.channels

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


def read_config(checkpoint: Checkpoint | CheckpointOutline, families: Mapping[str, Family] = SUPPORTED) -> ModelConfig:
    """Read a checkpoint's config.

    Args:
        families: Families that it may be of, by architecture.

    Raises:
        UnsupportedModel: The architecture, or a feature of it, is one that Tenon cannot run.
        ConfigInvalid: A value is missing or makes no sense.
    """
    family = families.get(checkpoint.architecture)
    if family is None:
        raise UnsupportedModel(
            "Tenon cannot run {architecture}; choose a model of another family. It runs {names}.",
            architecture=checkpoint.architecture,
            names=", ".join(dict.fromkeys(say(one.name) for one in families.values())),
        )
    if settings := settings_of(checkpoint.config):
        _refuse_quantized(settings, checkpoint.quantization)
    try:
        config = decoder_values(checkpoint, family)
        _refuse_features(config, family)
        found = replace(
            translate(checkpoint.architecture, checkpoint.names, config, family),
            quantization=checkpoint.quantization,
            types=checkpoint.types,
            converts=checkpoint.converts,
            reorders=checkpoint.reorders,
        )
        if found.parts > _MOST_PARTS:
            raise ValueError(f"{found.parts} layers, heads and experts")
        return found
    except BAD_VALUE as error:
        sentence = _BAD_VALUE_IN_GGUF if checkpoint.from_gguf else _BAD_VALUE
        raise ConfigInvalid(sentence, details=repr(error)) from error


def check_counts(wanted: int, found: int) -> None:
    """Refuse a config that asks for more parts than there are tensors, before lists of that length are made.

    Args:
        wanted: Number of parts (layers, heads and experts) that have a tensor of their own.
        found: Number of tensors in the checkpoint.

    Raises:
        TensorMismatch: Some of the parts cannot be there.
    """
    if wanted > found:
        raise TensorMismatch(
            "The config asks for {wanted} layers, heads and experts with weights of their own, and the files hold "
            "{found} tensors: put the files of one model together, or choose another one.",
            wanted=wanted,
            found=found,
        )


def _refuse_quantized(settings: Mapping[str, Any], title: str | None) -> None:
    if title is None:
        told = (settings.get("quant_method"), settings.get("quant_algo"), settings.get("format"))
        raise UnsupportedModel(
            "This model is quantized (quantization_config, {method}), which Tenon cannot read; "
            "choose the unquantized version.",
            method=", ".join(one for one in told if isinstance(one, str)) or say("an unknown method"),
        )


def decoder_values(checkpoint: Checkpoint | CheckpointOutline, family: Family) -> dict[str, Any]:
    """Return the values of config.json that describe the decoder, with every default; raise as `read_config`."""
    raw = checkpoint.config
    if family.text_config is None:
        return complete(raw, raw["model_type"])
    if not isinstance(raw.get(family.text_config), dict):
        raise UnsupportedModel(
            "{architecture} without a text part ({part} in config.json) writes no text; choose another model.",
            architecture=checkpoint.architecture,
            part=family.text_config,
        )
    text = raw[family.text_config]
    kind = text.get("model_type", family.text_types[0])
    if kind not in family.text_types:
        raise UnsupportedModel(
            "Tenon cannot run {architecture} with a text part of the type {kind}; it runs {names}. Choose another "
            "model.",
            architecture=checkpoint.architecture,
            kind=kind,
            names=", ".join(family.text_types),
        )
    return complete(text, kind)


def _refuse_features(config: Mapping[str, Any], family: Family) -> None:
    activation, known_ones = _activation_name(config), ACTIVATIONS if family.gated_network else _UNGATED
    if activation not in known_ones:
        raise UnsupportedModel(
            "Tenon has no activation {activation}; it has {names}.",
            activation=activation,
            names=", ".join(known_ones),
        )
    known_alone: dict[str, float | None] = {**(_CLAMPED if family.activation == "clamped_swiglu" else {})}
    if family.delta == "mamba":
        known_alone |= {"mamba_conv_bias": True, "mamba_proj_bias": False, "time_step_limit": None}
    for feature, known in known_alone.items():
        if config[feature] != known:
            raise UnsupportedModel(
                "Tenon knows {feature} as {known} alone, and this model has {found}; choose another model.",
                feature=feature,
                known=known,
                found=config[feature],
            )
    # "vision" is among the tokens of an image.
    if config.get("use_bidirectional_attention") not in (None, False, "vision"):
        raise UnsupportedModel(
            "Tenon runs causal models, and this one sets use_bidirectional_attention; choose another model."
        )
    for feature in () if family.soft_caps else ("attn_logit_softcapping", "final_logit_softcapping"):
        if config.get(feature) is not None:
            raise UnsupportedModel(
                "Tenon has no {feature} in {name}; choose another model.",
                feature=feature,
                name=say(family.name),
            )
    if family.convolution and config.get("conv_bias"):
        raise UnsupportedModel("Tenon has no convolutions with a bias (conv_bias); choose another model.")
    if family.windows == "layer_types" or family.convolution:
        types = {"full_attention", family.convolution}
        types |= {"sliding_attention"} if family.windows == "layer_types" else set()
        types |= _NETWORKS if family.single else set()
        unknown = set(config["layer_types"]) - types
        if unknown:
            raise UnsupportedModel(
                "Tenon has no layers of the type {unknown}; choose another model.", unknown=sorted(unknown)[0]
            )


def _activation_name(config: Mapping[str, Any]) -> str:
    return str(config.get("hidden_activation") or config["hidden_act"])


def translate(architecture: str, names: Collection[str], config: Mapping[str, Any], family: Family) -> ModelConfig:
    """Return the config of a decoder.

    Args:
        architecture: Name of its class.
        names: Names of a checkpoint's tensors, as far as they are known.
        config: Values of config.json, with every default.

    Raises:
        ValueError: A value makes no sense.
    """
    heads, kv_heads, head_dim = (
        int(config[name]) for name in ("num_attention_heads", "num_key_value_heads", "head_dim")
    )
    if family.query_key_norm is None:
        family = replace(family, query_key_norm=bool(config["use_qk_norm"]))
    latent = _latent(config) if family.latent else None
    if latent is not None:
        kv_heads, head_dim = 1, latent.width
    if heads % kv_heads or head_dim % 2 or min(heads, head_dim) < 1:
        raise ValueError(f"{heads} heads, {kv_heads} key-value heads, head_dim {head_dim}")
    layers = int(config["num_hidden_layers"])
    kinds = config["layer_types"]
    convolutions = tuple(kinds[layer] == family.convolution for layer in range(layers))
    convolutions = convolutions if any(convolutions) else ()
    networks = tuple(kinds[layer] in _NETWORKS for layer in range(layers)) if family.single else ()
    if not any(kind not in (family.convolution, *_NETWORKS) for kind in kinds[:layers]):
        raise ValueError(f"none of {layers} layers has attention")
    prefix = _tensor_prefix(names, family)
    delta = _delta(names, config, family) if family.delta and convolutions else None
    windows = _windows(config, family, layers)
    shapes = _shapes(config, layers, family.query_only) if family.global_heads else ()
    ropes, layer_ropes = _ropes(config, family, shapes, layers)
    scale = (float(config["query_pre_attn_scalar"]) if family.scalar_scale else float(head_dim)) ** -0.5
    if latent is not None:
        scale = _latent_scale(latent, config["rope_parameters"])
    input_width = int(config["hidden_size_per_layer_input"]) if family.global_heads else 0
    multipliers = family.multipliers
    attention_bias = bool(config["attention_bias"])
    mlp_bias = bool(config["mlp_bias"])
    return ModelConfig(
        architecture=architecture,
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
        activation=family.activation or {**ACTIVATIONS, **_UNGATED}[_activation_name(config)],
        attention_scale=(1.0 if family.unit_scale else float(config["attention_multiplier"]) if multipliers else scale),
        attention_soft_cap=config["attn_logit_softcapping"] if family.soft_caps else None,
        logit_soft_cap=config["final_logit_softcapping"] if family.soft_caps else None,
        embedding_scale=_embedding_scale(config, family),
        tied=_tied(names, config, family),
        qkv_bias=attention_bias if family.qkv_bias is None else family.qkv_bias,
        output_bias=attention_bias if family.output_bias is None else family.output_bias,
        mlp_bias=mlp_bias if family.mlp_bias is None else family.mlp_bias,
        windows=windows,
        ropes=ropes,
        layer_ropes=layer_ropes,
        tensor_prefix=prefix,
        residual_scale=float(config["residual_multiplier"]) if multipliers else 1.0,
        logit_scale=1.0 / float(config["logits_scaling"]) if multipliers else config.get("logit_scale", 1.0),
        mixture=None
        if family.experts is None
        else _mixture(config, family.experts, layers, fused_experts(names, family.experts, prefix)),
        convolution=int(config["conv_L_cache" if delta is None else "linear_conv_kernel_dim"]) if convolutions else 0,
        convolutions=convolutions,
        networks=networks,
        delta=delta,
        shapes=shapes,
        input_width=input_width,
        input_vocabulary=int(config["vocab_size_per_layer_input"]) if input_width else 0,
        latent=latent,
        query_scale=config.get("query_scale"),
        end_norm_epsilon=config.get("end_norm_epsilon"),
    )


def _latent(config: Mapping[str, Any]) -> Latent:
    latent = Latent(
        rank=int(config["kv_lora_rank"]),
        rotated=int(config["qk_rope_head_dim"]),
        plain=int(config["qk_nope_head_dim"]),
        values=int(config["v_head_dim"]),
        query_rank=int(config["q_lora_rank"] or 0),
        interleaved=bool(config["rope_interleave"]),
    )
    if latent.rotated % 2 or (config["attention_bias"] and not latent.query_rank):
        raise ValueError(f"{latent}, attention_bias {config['attention_bias']}")
    return latent


def _latent_scale(latent: Latent, rope: Mapping[str, Any]) -> float:
    """Return the factor of scores over latents: YaRN makes them larger by the square of its trained factor."""
    weight, factor = float(rope.get("mscale_all_dim") or 0.0), float(rope.get("factor") or 1.0)
    scale = float(latent.query_width**-0.5)
    if rope["rope_type"] == "default" or factor <= 1.0:
        return scale
    return scale * (0.1 * weight * math.log(factor) + 1.0) ** 2


def _tied(names: Collection[str], config: Mapping[str, Any], family: Family) -> bool:
    if family.text_config is None or not names:
        return bool(config["tie_word_embeddings"])
    # For a text part this key stands in two places, and the two contradict each other.
    return not any(name.endswith("lm_head.weight") for name in names)


def _shapes(config: Mapping[str, Any], layers: int, query_only: bool) -> tuple[LayerShape, ...]:
    """Return the layers by type; the last ones may read keys and values of the last of their type before.

    If no layer has keys, the model that they draft for settles which of its layers they read.
    """
    kinds, heads = config["layer_types"], int(config["num_attention_heads"])
    owners = 0 if query_only else layers - int(config["num_kv_shared_layers"])
    last = {kind: index for index, kind in enumerate(kinds if query_only else kinds[:owners])}
    shapes = []
    for index, kind in enumerate(kinds[:layers]):
        whole = kind == "full_attention"
        shares, alike = index >= owners, bool(config["attention_k_eq_v"])
        own_heads = config["num_global_key_value_heads"] if whole and alike else None
        shape = LayerShape(
            kv_heads=int(own_heads or config["num_key_value_heads"]),
            head_dim=int(config["global_head_dim"] if whole else config["head_dim"]),
            intermediate_size=int(config["intermediate_size"]) * (1 + (shares and config["use_double_wide_mlp"])),
            values_are_keys=whole and alike and not shares,
            keys_of=last[kind] if shares else None,
        )
        if heads % shape.kv_heads or shape.head_dim % 2:
            raise ValueError(f"{heads} heads, {shape}")
        shapes.append(shape)
    return tuple(shapes)


def _embedding_scale(config: Mapping[str, Any], family: Family) -> float | None:
    if family.multipliers:
        return float(config["embedding_multiplier"])
    return float(config["hidden_size"]) ** 0.5 if family.scaled_embedding else None


def fused_experts(names: Collection[str], family: FamilyExperts, prefix: str) -> bool:
    """Return whether tensors of these names have an expert's gate and up in one."""
    module = family.matrices[0].format(0)
    return bool(family.fused) and not any(
        name.startswith(prefix) and name.endswith(f"{module}.weight") for name in names
    )


def _mixture(config: Mapping[str, Any], family: FamilyExperts, layers: int, fused: bool) -> Mixture | None:
    sparse = tuple(config["mlp_layer_types"][layer] == "sparse" for layer in range(layers))
    if not any(sparse):
        return None
    experts, chosen = int(config["num_experts"]), int(config["num_experts_per_tok"])
    if not 0 < chosen <= experts:
        raise ConfigInvalid(
            "The model's config asks for {chosen} experts per token where there are {experts}; choose another model.",
            chosen=chosen,
            experts=experts,
        )
    greedy = config.get("topk_method") == "greedy"  # there may be groups that are not chosen by
    groups, chosen_groups = (1 if greedy else int(config[name] or 1) for name in ("n_group", "topk_group"))
    if experts % groups or not chosen <= chosen_groups * (experts // groups) <= experts or groups > MOST_GROUPS:
        raise ValueError(f"{chosen} of {experts} experts in {chosen_groups} of {groups} groups")
    return Mixture(
        experts=experts,
        chosen=chosen,
        width=int(config["moe_intermediate_size"]),
        latent=int(config["moe_latent_size"] or 0) if family.latent else 0,
        layers=sparse,
        fused=fused,
        scores=family.scores,
        normalised=bool(config["norm_topk_prob"]),
        sum_floor=family.sum_floor,
        scale=float(config["routed_scaling_factor"]),
        groups=groups,
        chosen_groups=chosen_groups,
        group_scores=family.group_scores,
        corrected=bool(family.correction) and bool(config.get("use_expert_bias", True)),
        scaled=bool(family.expert_scale),
        beside=family.beside,
        shared_width=int(config["shared_expert_intermediate_size"]) if family.shared else 0,
        shared_gate=bool(family.shared_gate),
    )


def _delta(names: Collection[str], config: Mapping[str, Any], family: Family) -> DeltaNet:
    def joined(part: str) -> bool:
        """Return whether maps are joined: the part alone tells if the checkpoint's tensors are known."""
        return family.delta == "joined" and not any(name.endswith(f"{part}.weight") for name in names)

    delta = DeltaNet(
        key_heads=int(config["linear_num_key_heads"]),
        heads=int(config["linear_num_value_heads"]),
        key_dim=int(config["linear_key_head_dim"]),
        value_dim=int(config["linear_value_head_dim"]),
        tiled=bool(config.get("linear_tiled")),
        joined=joined("linear_attn.in_proj_qkv"),
        paired=joined("linear_attn.in_proj_b"),
        decays=bool(config.get("linear_decays")),
        corrects=family.delta != "mamba",
    )
    if delta.heads % delta.key_heads:
        raise ConfigInvalid(
            "The model's config asks for {heads} value heads that share {keys} key heads evenly; choose another model.",
            heads=delta.heads,
            keys=delta.key_heads,
        )
    return delta


def _windows(config: Mapping[str, Any], family: Family, layers: int) -> tuple[int | None, ...]:
    window = config["sliding_window"]
    if family.windows == "none" or window is None:
        return (None,) * layers
    if family.windows == "all":
        return (int(window),) * layers
    kinds = config["layer_types"]
    return tuple(int(window) if kinds[layer] == "sliding_attention" else None for layer in range(layers))


def _ropes(
    config: Mapping[str, Any], family: Family, shapes: tuple[LayerShape, ...], layers: int
) -> tuple[tuple[Rope, ...], tuple[int | None, ...]]:
    if "full_attention" in config["rope_parameters"]:  # sliding layers have frequencies of their own
        kinds = ("full_attention", "sliding_attention")
        whole = int(config["global_head_dim"]) if shapes else None
        ropes = tuple(
            read_rope(config, kind, family.partial_rotary, head_dim)
            for kind, head_dim in zip(kinds, (whole, None), strict=True)
        )
        own = (config["layer_types"][layer] for layer in range(layers))
        return ropes, tuple(kinds.index(kind) if kind in kinds else None for kind in own)
    rope = read_rope(config, None, family.partial_rotary)
    if family.sections:
        rope = replace(rope, axes=_axes(config, family, len(rope.frequencies)))
    if config.get("query_beta"):
        context = int(config["rope_parameters"]["original_max_position_embeddings"])
        rope = replace(rope, query_beta=float(config["query_beta"]), query_context=context)
    rotates = config.get("no_rope_layers") or (1,) * layers  # 1 if the layer rotates
    return (rope,), tuple(0 if rotates[layer] else None for layer in range(layers))


def _axes(config: Mapping[str, Any], family: Family, pairs: int) -> tuple[int, ...]:
    """Return the axis of each rotated pair: time, row and column take turns as long as the latter two have pairs."""
    sections = config["rope_parameters"].get("mrope_section") or family.sections
    _, rows, columns = (int(count) for count in sections[:3])
    ends = {1: 3 * rows, 2: 3 * columns}
    return tuple(pair % 3 if pair < ends.get(pair % 3, 0) else 0 for pair in range(pairs))


def _tensor_prefix(names: Collection[str], family: Family) -> str:
    for prefix in family.tensor_prefixes:
        if f"{prefix}{family.named('embed_tokens')}.weight" in names:
            return prefix
    return family.tensor_prefixes[0]
