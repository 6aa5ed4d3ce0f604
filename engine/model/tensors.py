"""Tensors that a checkpoint of a config must hold, and the place of each in the decoder's fused weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from engine.errors import TensorMismatch
from engine.families.family import NETWORK
from engine.model.config import DeltaNet, Latent, ModelConfig, check_counts
from engine.sentences import mark, say
from engine.weights.checkpoint import Checkpoint

#: Buffers and copies that some checkpoints carry and nobody needs.
HARMLESS_SUFFIXES = ("rotary_emb.inv_freq", "attn.masked_bias", "attn.bias")
NAMES_SHOWN = 3
_MISMATCH = mark(
    "The tensors do not match config.json: {problems}; put the files of one model together, or choose another model."
)
_MISMATCH_IN_GGUF = mark(
    "The tensors do not match the GGUF file's metadata: {problems}; choose another file of this model."
)
# Beginnings of Qwen's names for the layer that guesses a token further.
_NEXT = ("mtp.", "model.mtp.")
_SENSITIVE = ("self_attn.v_proj", "self_attn.qkv_proj")
_MISSING = mark("{count} missing ({names})")
_UNEXPECTED = mark("{count} unexpected ({names})")
_WRONG_SHAPE = mark("{count} of the wrong shape ({names})")


@dataclass(frozen=True)
class Slot:
    """A tensor of the checkpoint and the rows of the decoder's tensor that it fills."""

    name: str  # name in the checkpoint
    shape: tuple[int, ...]  # shape in the checkpoint
    field: str  # attribute of the decoder's weights
    first_row: int = 0  # first of its rows there
    sensitive: bool = False  # True if it is one of the tensors that formats of few bits keep finer

    @property
    def routes(self) -> bool:
        """True for tensors that choose and weigh experts, or memory: few weights, whose products are in floats."""
        return self.field in ("router", "shared_gate", "correction", "expert_scale", "memory_gates")

    @property
    def exact(self) -> bool:
        """True for a vector that is float32 whatever the others are."""
        return self.field in (
            *("correction", "expert_scale", "scalar", "sinks", "convolution", "convolution_bias"),
            *("decay", "decay_bias", "skip", "memory_norm"),
        )

    @property
    def of_expert(self) -> bool:
        """True for an expert's tensor, which only the tokens that chose it multiply."""
        return self.field.startswith("experts.")


# A plan asks for them hundreds of times, and a mixture has hundreds in a layer.
@lru_cache(maxsize=256)
def layer_slots(config: ModelConfig, layer: int) -> tuple[Slot, ...]:
    """Return the tensors of one layer, with q, k, v fused to ``qkv`` and gate, up to ``gate_up``."""
    prefix = f"{config.tensor_prefix}layers.{layer}."
    config = config.of_layer(layer)
    hidden, queries, keys, wide = (
        config.hidden_size,
        config.query_size,
        config.kv_size,
        config.intermediate_size,
    )
    slots: list[Slot] = []
    finer = _finer(layer, config.layers)

    def linear(module: str, field: str, rows: int, columns: int, first_row: int, bias: bool) -> None:
        module = config.family.named(module)
        sensitive = finer and (module in _SENSITIVE or field.endswith(("down", "value_up")))
        slots.append(Slot(f"{prefix}{module}.weight", (rows, columns), field, first_row, sensitive))
        if bias:
            slots.append(Slot(f"{prefix}{module}.bias", (rows,), f"{field}_bias", first_row))

    def norm(module: str, field: str, size: int = hidden) -> None:
        slots.append(Slot(f"{prefix}{config.family.named(module)}.weight", (size,), field))

    def attend_latents(latent: Latent) -> None:
        queries = config.heads * latent.query_width
        if latent.query_rank:
            linear("self_attn.q_a_proj", "qkv", latent.query_rank, hidden, 0, config.qkv_bias)
            norm("self_attn.q_a_layernorm", "query_norm", latent.query_rank)
            linear("self_attn.q_b_proj", "query_up", queries, latent.query_rank, 0, False)
        else:
            linear("self_attn.q_proj", "qkv", queries, hidden, 0, False)
        first = latent.query_rank or queries
        linear("self_attn.kv_a_proj_with_mqa", "qkv", latent.width, hidden, first, config.qkv_bias)
        norm("self_attn.kv_a_layernorm", "key_norm", latent.rank)
        for head in range(config.heads):
            keys, values = latent.rank, latent.values
            linear(f"self_attn.k_b_proj.{head}", "key_up", keys, latent.plain, head * keys, False)
            linear(f"self_attn.v_b_proj.{head}", "value_up", values, latent.rank, head * values, False)
        linear("self_attn.o_proj", "output", hidden, config.heads * latent.values, 0, config.output_bias)

    def attend() -> None:
        if config.latent is not None:
            attend_latents(config.latent)
            return
        if config.family.fused_projections:
            linear("self_attn.qkv_proj", "qkv", queries + 2 * keys, hidden, 0, config.qkv_bias)
        else:
            first = 2 * queries if config.family.output_gate == "queries" else queries
            linear("self_attn.q_proj", "qkv", first, hidden, 0, config.qkv_bias)
            if config.keys_of is None:
                linear("self_attn.k_proj", "qkv", keys, hidden, first, config.qkv_bias)
                if not config.values_are_keys:
                    linear("self_attn.v_proj", "qkv", keys, hidden, first + keys, config.qkv_bias)
        if config.family.query_key_norm:
            norm("self_attn.q_norm", "query_norm", config.head_dim)
            if config.keys_of is None:
                norm("self_attn.k_norm", "key_norm", config.head_dim)
        if config.family.output_gate in (True, "heads"):
            gates = config.heads if config.family.output_gate == "heads" else queries
            linear("self_attn.gate_proj", "attention_gate", gates, hidden, 0, False)
        linear("self_attn.o_proj", "output", hidden, queries, 0, config.output_bias)
        if config.family.sinks:
            slots.append(Slot(f"{prefix}self_attn.sinks", (config.heads,), "sinks"))

    def remember(delta: DeltaNet) -> None:
        module, own = ("linear_attn", delta.value_dim) if delta.corrects else ("mamba", delta.values)
        module = config.family.named(module)

        def vector(name: str, field: str, size: int) -> None:
            slots.append(Slot(f"{prefix}{module}.{name}", (size,), field))

        if not delta.corrects:
            inner = delta.values + delta.channels + delta.heads
            linear(f"{module}.in_proj", "qkv", inner, hidden, 0, False)
            vector("conv1d.bias", "convolution_bias", delta.channels)
            vector("D", "skip", delta.heads)
        elif delta.joined:
            linear("linear_attn.in_proj_qkvz", "qkv", delta.channels + delta.values, hidden, 0, False)
        else:
            linear("linear_attn.in_proj_qkv", "qkv", delta.channels, hidden, 0, False)
            linear("linear_attn.in_proj_z", "attention_gate", delta.values, hidden, 0, False)
        for at, part in enumerate(("ba",) if delta.paired else ("b", "a") if delta.corrects else ()):
            linear(
                f"linear_attn.in_proj_{part}", "memory_gates", len(part) * delta.heads, hidden, at * delta.heads, False
            )
        linear(f"{module}.out_proj", "output", hidden, delta.values, 0, False)
        vector("conv1d.weight", "convolution", delta.channels * config.convolution)
        vector("A_log", "decay", delta.heads)
        vector("dt_bias", "decay_bias", delta.heads)
        vector("norm.weight", "memory_norm", own)

    if config.mixes(layer):
        norm("input_layernorm", "attention_norm")
    if config.convolves(layer) and config.delta is not None:
        remember(config.delta)
    elif config.convolves(layer):
        linear("conv.in_proj", "qkv", 3 * hidden, hidden, 0, False)
        linear("conv.out_proj", "output", hidden, hidden, 0, False)
        slots.append(Slot(f"{prefix}conv.conv.weight", (hidden * config.convolution,), "convolution"))
    elif config.mixes(layer):
        attend()
    if not config.maps(layer):
        return tuple(slots)
    if config.family.sandwich_norm:
        norm("post_attention_layernorm", "attention_end_norm")
        norm("pre_feedforward_layernorm", "mlp_norm")
        norm("post_feedforward_layernorm", "mlp_end_norm")
    else:
        norm("post_attention_layernorm", "mlp_norm")

    def network(
        modules: Sequence[str],
        width: int,
        field: Callable[[str], str] = str,
        bias: bool = config.mlp_bias,
        outer: int = hidden,
    ) -> None:
        *inner, down = modules
        rows = (1 + config.family.gated_network) * width // len(inner)
        for index, module in enumerate(inner):
            linear(module, field("gate_up"), rows, outer, index * rows, bias)
        linear(down, field("down"), outer, width, 0, bias)

    modules = NETWORK if config.family.gated_network else NETWORK[1:]
    mixture, names = config.mixture, config.family.experts
    if mixture is not None and names is not None and mixture.layers[layer]:
        linear(names.router, "router", mixture.experts, hidden, 0, names.biases)
        if mixture.corrected:
            slots.append(Slot(f"{prefix}{names.correction}", (mixture.experts,), "correction"))
        if mixture.scaled:
            slots.append(Slot(f"{prefix}{names.expert_scale}", (mixture.experts,), "expert_scale"))
        if mixture.beside:
            slots.append(Slot(f"{prefix}{names.router_norm}", (hidden,), "router_norm"))
            norm("pre_feedforward_layernorm_2", "experts_norm")
            norm("post_feedforward_layernorm_1", "network_end_norm")
            norm("post_feedforward_layernorm_2", "experts_end_norm")
            network([f"mlp.{module}" for module in modules], wide)
        if mixture.latent:
            taken, given = names.latent
            linear(taken, "latent_in", mixture.latent, hidden, 0, config.mlp_bias)
            linear(given, "latent_out", hidden, mixture.latent, 0, config.mlp_bias)
        for index in range(mixture.experts):
            own = [module.format(index) for module in (names.fused if mixture.fused else names.matrices)]
            bias, outer = names.biases or config.mlp_bias, mixture.latent or hidden
            network(own, mixture.width, partial(expert_field, index), bias, outer)
        if mixture.shared_width:
            network([f"{names.shared}{module}" for module in modules], mixture.shared_width)
        if mixture.shared_gate:
            linear(names.shared_gate, "shared_gate", 1, hidden, 0, False)
    elif config.family.fused_projections:
        network(("mlp.gate_up_proj", "mlp.down_proj"), wide)
    else:
        network([f"mlp.{module}" for module in modules], wide)
    if config.input_width:
        linear("per_layer_input_gate", "input_gate", config.input_width, hidden, 0, False)
        linear("per_layer_projection", "input_projection", hidden, config.input_width, 0, False)
        norm("post_per_layer_input_norm", "input_norm")
    if config.family.layer_scalar:
        slots.append(Slot(f"{prefix}layer_scalar", (1,), "scalar"))
    return tuple(slots)


def expert_field(index: int, field: str) -> str:
    """Return the field of an expert's matrix, given the field of a layer's."""
    return f"experts.{index}.{field}"


def input_slots(config: ModelConfig) -> list[Slot]:
    """Return the tensors of the layers' own inputs: projection and its norm; none if there are no such inputs."""
    if not config.input_width:
        return []
    # with the architecture's own prefix, beside the layers
    rows, prefix = len(config.shapes) * config.input_width, config.tensor_prefix
    return [
        Slot(f"{prefix}per_layer_model_projection.weight", (rows, config.hidden_size), "layer_inputs"),
        Slot(f"{prefix}per_layer_projection_norm.weight", (config.input_width,), "layer_inputs_norm"),
    ]


def input_embedding_slot(config: ModelConfig) -> Slot:
    """Return the second embedding, which has the rows of the layers' own inputs."""
    shape = config.input_vocabulary, len(config.shapes) * config.input_width
    return Slot(f"{config.tensor_prefix}embed_tokens_per_layer.weight", shape, "layer_inputs_embedding")


def outer_slots(config: ModelConfig) -> list[Slot]:
    """Return the tensors outside the layers: embedding, final norm, and the head if it is not the embedding."""
    slots = [
        replace(head_slot(config), name=_embedding_name(config), field="embedding"),
        Slot(f"{config.tensor_prefix}{config.family.named('norm')}.weight", (config.hidden_size,), "final_norm"),
    ]
    return slots if config.tied else [*slots, head_slot(config)]


def head_slot(config: ModelConfig) -> Slot:
    """Return the map from hidden states to logits, which may be the embedding's tensor."""
    name = _embedding_name(config) if config.tied else head_name(config)
    return Slot(name, (config.vocabulary_size, config.hidden_size), "head", sensitive=True)


def _embedding_name(config: ModelConfig) -> str:
    return f"{config.tensor_prefix}{config.family.named('embed_tokens')}.weight"


def _finer(layer: int, layers: int) -> bool:
    """Return whether a layer's sensitive matrices are kept finer: llama.cpp's choice for its mixtures of size M."""
    eighth = layers // 8
    return layer < eighth or layer >= 7 * layers // 8 or (layer - eighth) % 3 == 2


def head_name(config: ModelConfig) -> str:
    """Return the name of the head in the checkpoint, which lies beside the decoder's prefix."""
    outer, inner, _ = config.tensor_prefix.rpartition("model.")
    return f"{outer if inner and not config.tensor_prefix.startswith('model.') else ''}lm_head.weight"


def expected_tensors(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Return name and shape of every tensor that must be in the checkpoint."""
    slots = [*outer_slots(config), *input_slots(config)]
    if config.input_width:
        slots.append(input_embedding_slot(config))
    for layer in range(config.layers):
        slots += layer_slots(config, layer)
    return {slot.name: slot.shape for slot in slots}


def count_parameters(config: ModelConfig) -> int:
    """Return the number of weights, shared ones counted once."""
    return sum(map(math.prod, expected_tensors(config).values()))


def check_tensors(checkpoint: Checkpoint, config: ModelConfig) -> None:
    """Compare a checkpoint's tensors with those that its config requires.

    Raises:
        TensorMismatch: A tensor is missing, unexpected or of the wrong shape; the error names the first few of
            each.
    """
    check_counts(config.parts, len(checkpoint.names))
    unread = _unread_keys(config)
    compare_tensors(
        {name: checkpoint.shape(name) for name in checkpoint.names},
        expected_tensors(config),
        lambda name: name in unread or _harmless(name, config),
        _MISMATCH_IN_GGUF if checkpoint.from_gguf else _MISMATCH,
    )


def compare_tensors(
    found: Mapping[str, tuple[int, ...]],
    expected: Mapping[str, tuple[int, ...]],
    harmless: Callable[[str], bool],
    sentence: str,
) -> None:
    """Compare tensors that are there with those that must be.

    Args:
        found: Name and shape of each tensor of a checkpoint.
        expected: Name and shape of each tensor that must be there.
        harmless: Returns True for a name that may be there unexpectedly.
        sentence: Message with the {problems} that were found.

    Raises:
        TensorMismatch: A tensor is missing, unexpected or of the wrong shape; the error names the first few of
            each.
    """
    missing = sorted(set(expected) - set(found))
    unexpected = sorted(name for name in set(found) - set(expected) if not harmless(name))
    wrong = [
        say("{name} is {found} and not {shape}", name=name, found=found[name], shape=shape)
        for name, shape in expected.items()
        if name in found and found[name] != shape
    ]
    problems = [
        say(
            kind,
            count=len(names),
            names=", ".join([*names[:NAMES_SHOWN], *(["…"] if len(names) > NAMES_SHOWN else [])]),
        )
        for kind, names in ((_MISSING, missing), (_UNEXPECTED, unexpected), (_WRONG_SHAPE, wrong))
        if names
    ]
    if problems:
        raise TensorMismatch(sentence, problems="; ".join(problems), details="\n".join([*missing, *unexpected, *wrong]))


@dataclass(frozen=True)
class NextNames:
    """Names of tensors of the layer that guesses a token further (MTP), in DeepSeek's, Qwen's and Nemotron's files."""

    start: str  # beginning of all names
    layers: tuple[str, ...]  # what follows it in names of the layer, or of its halves: attention, and experts
    join: str  # map of embedding and hidden state, side by side, to the layer's input
    token_norm: str  # norm of the embedding
    feature_norm: str  # norm of the hidden state
    final_norm: str  # norm before the head
    # Tensors that repeat the model's own, which are read in their place
    repeated: tuple[str, ...] = ("embed_tokens.weight", "shared_head.head.weight")

    @classmethod
    def of(cls, names: Collection[str], config: ModelConfig) -> NextNames | None:
        """Return the names that a model's files have, or None if they have no such layer."""
        after = f"{config.tensor_prefix}layers.{config.layers}."
        halves = 2 if config.networks else 1
        forms = [cls(after, ("",) * halves, "eh_proj", "enorm", "hnorm", "shared_head.norm")]
        for start in _NEXT:
            forms.append(cls(start, ("layers.0.",), "fc", "pre_fc_norm_embedding", "pre_fc_norm_hidden", "norm"))
        first, last = "layers.0.", "layers.1."
        own = (f"{first}eh_proj", f"{first}enorm", f"{first}hnorm", f"{last}final_layernorm")
        forms.append(cls("mtp.", (first, last), *own))
        return next((form for form in forms if f"{form.start}{form.join}.weight" in names), None)


def _harmless(name: str, config: ModelConfig) -> bool:
    if name.endswith(HARMLESS_SUFFIXES) or name.startswith(config.family.ignored_prefixes):
        return True
    if config.family.extra_layers and name.startswith(_NEXT):
        return True
    for layers in (f"{config.tensor_prefix}layers.", "blk.") if config.family.extra_layers else ():
        number = name.removeprefix(layers).partition(".")[0]
        if name.startswith(layers) and number.isdecimal() and int(number) >= config.layers:
            return True
    return config.tied and name in ("lm_head.weight", head_name(config))


def _unread_keys(config: ModelConfig) -> frozenset[str]:
    """Return the keys' and values' tensors that files have for layers that read another layer's."""
    modules = ("k_proj", "v_proj", "k_norm", "v_norm")
    return frozenset(
        f"{config.tensor_prefix}layers.{index}.self_attn.{module}.weight"
        for index, shape in enumerate(config.shapes)
        if shape.keys_of is not None
        for module in modules
    )
