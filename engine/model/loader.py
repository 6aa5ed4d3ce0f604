"""Weights from a checkpoint into memory: fused tensors are allocated once and filled slice by slice."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import torch
from torch import Tensor

from engine.errors import TensorMismatch
from engine.model.config import ModelConfig
from engine.model.embedding import FileRows, LayerInputs, Table
from engine.model.latent import LATENT_EPSILON
from engine.model.layer import LayerWeights, ModelWeights
from engine.model.linear import Linear, LinearMap, Norm
from engine.model.mixture import Experts
from engine.model.tensors import (
    Slot,
    check_tensors,
    count_parameters,
    expected_tensors,
    expert_field,
    input_embedding_slot,
    input_slots,
    layer_slots,
    outer_slots,
)
from engine.weights.checkpoint import Checkpoint
from engine.weights.head_checkpoint import HeadCheckpoint


def load_weights(
    checkpoint: Checkpoint,
    config: ModelConfig,
    dtype: torch.dtype,
    device: torch.device,
    progress: Callable[[int, int], None] = lambda done_bytes, total_bytes: None,
    check: Callable[[], None] = lambda: None,
    wanted: Sequence[int] | None = None,
) -> ModelWeights:
    """Read a whole model. Beside the weights themselves no more than one slice is in memory.

    Args:
        checkpoint: Source of the tensors.
        dtype: Type of matrices and embedding; norms are kept in float32.
        progress: Called with bytes read and bytes to read, after each slice.
        check: Called before each slice; raises to cancel.
        wanted: Layers to read, in order; None for all. The others are loaded elsewhere.

    Raises:
        TensorMismatch: The checkpoint's tensors are not those of its config.
        WeightsCorrupt: A file ends early.
        UnsupportedModel: A tensor is of a type that is not read.
    """
    check_tensors(checkpoint, config)
    expected = expected_tensors(config)
    total = sum(checkpoint.stored_bytes(name) for name in expected)
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        progress(done, total)

    progress(0, total)
    slots = [*outer_slots(config), *input_slots(config)]
    outer = read_slots(checkpoint, slots, dtype, device, advance, check)
    wanted = range(config.layers) if wanted is None else wanted
    return ModelWeights(
        embedding=Table(outer["embedding"]),
        layers=load_layers(checkpoint, config, wanted, dtype, device, advance, check),
        final_norm=final_norm(config, outer["final_norm"]),
        head=Linear(outer["embedding"] if config.tied else outer["head"]),
        tied=config.tied,
        parameters=count_parameters(config),
        activations=dtype,
        cache=dtype,
        inputs=layer_inputs(checkpoint, config, outer.__getitem__, lambda field: Linear(outer[field]), dtype),
    )


def layer_inputs(
    checkpoint: Checkpoint,
    config: ModelConfig,
    vector: Callable[[str], Tensor],
    linear: Callable[[str], LinearMap],
    dtype: torch.dtype,
) -> LayerInputs | None:
    """Make the second embedding from parts keyed by the field names of `input_slots`, or return None without it."""
    slots = input_slots(config)
    if not slots:
        return None
    projection, norm = slots
    stored = checkpoint.stored(input_embedding_slot(config).name)
    return LayerInputs(
        embedding=FileRows(checkpoint.files, stored),
        projection=linear(projection.field),
        norm=Norm(vector(norm.field), config.norm_epsilon),
        scale=torch.tensor(config.input_width**0.5, dtype=dtype).item(),
        layers=len(config.shapes),
    )


def final_norm(config: ModelConfig, weight: Tensor) -> Norm:
    """Make the norm before the head."""
    offset = 0.0 if config.family.plain_final_norm else config.family.norm_offset
    return Norm(weight, config.norm_epsilon, offset, config.logit_scale)


def load_layers(
    checkpoint: Checkpoint,
    config: ModelConfig,
    wanted: Sequence[int],
    dtype: torch.dtype,
    device: torch.device,
    advance: Callable[[int], None] = lambda size_bytes: None,
    check: Callable[[], None] = lambda: None,
) -> tuple[LayerWeights, ...]:
    """Read some layers of a model whose tensors were checked; arguments and errors are those of `read_slots`."""
    return tuple(
        layer_weights(read_slots(checkpoint, layer_slots(config, layer), dtype, device, advance, check), config)
        for layer in wanted
    )


def read_slots(
    checkpoint: Checkpoint | HeadCheckpoint,
    slots: Sequence[Slot],
    dtype: torch.dtype,
    device: torch.device,
    advance: Callable[[int], None],
    check: Callable[[], None],
) -> dict[str, Tensor]:
    """Read tensors into the decoder's fused ones.

    Args:
        checkpoint: Source of the tensors.
        slots: Tensors to read, and their places.
        dtype: Type of the result.
        advance: Called with the bytes of each slice.
        check: Called before each slice; raises to cancel.

    Returns:
        The decoder's tensors by field name.

    Raises:
        TensorMismatch: Rows of a tensor were not filled.
    """
    rows: dict[str, int] = {}
    for slot in slots:
        rows[slot.field] = max(rows.get(slot.field, 0), slot.first_row + slot.shape[0])
    tensors: dict[str, Tensor] = {}
    filled = dict.fromkeys(rows, 0)
    for slot in slots:
        if slot.field not in tensors:
            kind = torch.float32 if slot.exact else dtype
            tensors[slot.field] = torch.empty((rows[slot.field], *slot.shape[1:]), dtype=kind, device=device)
        target = tensors[slot.field][slot.first_row : slot.first_row + slot.shape[0]]
        for count in checkpoint.read(slot.name, target, check):
            advance(count)
        filled[slot.field] += slot.shape[0]
    for name, count in filled.items():
        if count != rows[name]:
            raise TensorMismatch(
                "Only {count} of {rows} rows of {name} were filled; report this as a bug.",
                count=count,
                rows=rows[name],
                name=name,
            )
    return tensors


def layer_weights(tensors: dict[str, Tensor], config: ModelConfig) -> LayerWeights:
    """Make a layer's weights from its dense tensors, keyed by the field names of `layer_slots`."""
    return dress_layer(
        config,
        tensors.keys(),
        vector=tensors.__getitem__,
        linear=lambda field: Linear(tensors[field], tensors.get(f"{field}_bias")),
    )


def dress_layer(
    config: ModelConfig,
    present: Collection[str],
    vector: Callable[[str], Tensor],
    linear: Callable[[str], LinearMap],
) -> LayerWeights:
    """Make a layer from its parts, keyed by the field names of `layer_slots`: norms' weights, matrices and biases."""

    def norm(field: str) -> Norm:
        epsilon = config.norm_epsilon
        if config.latent is not None and field in ("query_norm", "key_norm"):
            epsilon = LATENT_EPSILON
        elif field.endswith("end_norm") and config.end_norm_epsilon is not None:
            epsilon = config.end_norm_epsilon
        if field != "memory_norm" or config.delta is None:
            return Norm(vector(field), epsilon, config.family.norm_offset)
        groups = 1 if config.delta.corrects else config.delta.key_heads
        return Norm(vector(field).view(groups, -1), epsilon)

    def head_norm(field: str, scale: float) -> Norm | None:
        if config.query_scale is None:
            return optional(field)
        ones = torch.ones(config.head_dim, device=vector("attention_norm").device)
        return Norm(ones, config.norm_epsilon, scale=scale)

    def optional(field: str) -> Norm | None:
        return norm(field) if field in present else None

    def matrix(field: str) -> LinearMap | None:
        return linear(field) if field in present else None

    def experts() -> Experts | None:
        if config.mixture is None or "router" not in present:
            return None
        each = range(config.mixture.experts)
        return Experts(
            router=linear("router"),
            gate_up=tuple(linear(expert_field(index, "gate_up")) for index in each),
            down=tuple(linear(expert_field(index, "down")) for index in each),
            shared_gate=matrix("shared_gate"),
            correction=vector("correction") if config.mixture.corrected else None,
            scale=vector("expert_scale") if config.mixture.scaled else None,
            latent_in=matrix("latent_in"),
            latent_out=matrix("latent_out"),
        )

    def decay() -> Tensor:
        stored = vector("decay")
        return stored if config.delta is not None and config.delta.decays else -stored.exp()

    def router_norm() -> Norm:
        # The division is a part of the router.
        return Norm(vector("router_norm"), config.norm_epsilon, scale=config.hidden_size**-0.5)

    def value_norm() -> Norm | None:
        if not config.family.value_norm or "key_norm" not in present:
            return None
        width = vector("key_norm").shape[0]
        return Norm(torch.ones(width, device=vector("key_norm").device), config.norm_epsilon)

    return LayerWeights(
        attention_norm=optional("attention_norm"),
        qkv=matrix("qkv"),
        output=matrix("output"),
        mlp_norm=optional("mlp_norm"),
        gate_up=matrix("gate_up"),
        down=matrix("down"),
        query_norm=head_norm("query_norm", config.query_scale or 1.0),
        key_norm=head_norm("key_norm", 1.0),
        attention_end_norm=optional("attention_end_norm"),
        mlp_end_norm=optional("mlp_end_norm"),
        experts=experts(),
        sinks=vector("sinks") if config.family.sinks else None,
        convolution=(vector("convolution").view(-1, config.convolution) if "convolution" in present else None),
        convolution_bias=vector("convolution_bias") if "convolution_bias" in present else None,
        value_norm=value_norm(),
        router_norm=router_norm() if "router_norm" in present else None,
        experts_norm=optional("experts_norm"),
        network_end_norm=optional("network_end_norm"),
        experts_end_norm=optional("experts_end_norm"),
        input_gate=matrix("input_gate"),
        input_projection=matrix("input_projection"),
        input_norm=optional("input_norm"),
        scalar=vector("scalar") if "scalar" in present else None,
        query_up=matrix("query_up"),
        key_up=matrix("key_up"),
        value_up=matrix("value_up"),
        attention_gate=matrix("attention_gate"),
        memory_gates=matrix("memory_gates"),
        decay=decay() if "decay" in present else None,
        decay_bias=vector("decay_bias") if "decay" in present else None,
        skip=vector("skip") if "skip" in present else None,
        memory_norm=optional("memory_norm"),
    )
