"""Decoder layers that the kernel library computes in one call each.

Torch needs some fifteen operators for a layer, each of which starts and ends threads; here it is one call. With one
token that saves a quarter of a forward's time, with 64 a third. A row's result depends only on its own path, bit
for bit, so that speculation changes nothing in the packed formats either.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.kernels import layer as kernel
from engine.kernels import library
from engine.kernels.library import Matrix
from engine.model.attention import Ends, Paths
from engine.model.config import DeltaNet, Latent, ModelConfig
from engine.model.latent import LATENT_EPSILON
from engine.model.layer import LayerWeights
from engine.model.linear import JoinedLinear, LinearMap, Norm, PackedLinear
from engine.model.mixture import Experts, Mixture
from engine.model.rope import Rotation


@dataclass(frozen=True)
class FusedText:
    """Rows of one text in a forward; it holds the tensors that the structure points at."""

    text: kernel.Text
    held: tuple[Tensor, ...]


@dataclass(frozen=True)
class FusedStep:
    """Rows of a forward for layers of one window and rotation; it holds the tensors that the structure points at."""

    step: kernel.Step
    held: tuple[object, ...]


class FusedMixture:
    """A layer's experts for the kernel library, all their matrices packed."""

    def __init__(self, mixture: Mixture, experts: Experts) -> None:
        parts = [
            (*_structures(gate_up), *_structures(down))
            for gate_up, down in zip(experts.gate_up, experts.down, strict=True)
        ]
        columns = [list(column) for column in zip(*parts, strict=True)]
        if len(columns) == 2:  # gate and up in one
            columns.insert(1, [Matrix() for _ in parts])
        self._arrays = arrays = [(Matrix * len(column))(*column) for column in columns]
        self._experts = experts  # the structure holds addresses only
        gate, up, down = map(ctypes.addressof, arrays)
        shared_gate, correction = experts.shared_gate, experts.correction
        # Structure for the library
        self.structure = kernel.Mixture(
            experts=mixture.experts,
            chosen=mixture.chosen,
            groups=mixture.groups,
            chosen_groups=mixture.chosen_groups,
            group_scores=mixture.group_scores,
            gate=gate,
            up=up,
            down=down,
            router=_structures(experts.router)[0],
            shared_gate=Matrix() if shared_gate is None else _structures(shared_gate)[0],
            correction=None if correction is None else correction.data_ptr(),
            expert_scale=None if experts.scale is None else experts.scale.data_ptr(),
            scale=mixture.scale,
            sum_floor=mixture.sum_floor,
            scores=kernel.SCORES[mixture.scores],
            normalised=mixture.normalised,
            repeats=None if experts.repeats is None else experts.repeats.data_ptr(),
        )

    @classmethod
    def made_of(cls, config: ModelConfig, experts: Experts) -> FusedMixture | None:
        """Make the experts alone, or return None if the library cannot compute them."""
        if config.mixture is None or not _fits(config) or not _alike(experts):
            return None
        return cls(config.mixture, experts)

    def __call__(self, config: ModelConfig, rows: Tensor, chosen: Tensor, weights: Tensor) -> Tensor:
        """Return float32 results for (n, h) rows, (n, k) chosen experts and weights, all in the host's memory."""
        activation = kernel.ACTIVATIONS[config.activation]
        return kernel.experts(
            self.structure, activation, rows.contiguous(), chosen.int().contiguous(), weights.contiguous()
        )

    @property
    def bring(self) -> Callable[[list[int]], None] | None:
        """Function that brings chosen experts that may be elsewhere, or None if all are here."""
        return None if self._experts.bring is None else self._bring

    def _bring(self, chosen: list[int]) -> None:
        experts = self._experts
        assert experts.bring is not None, "asked by whoever may bring them"
        used = [array for array in self._arrays if array[0].n]
        for expert in experts.bring(chosen):
            matrices = *_structures(experts.gate_up[expert]), *_structures(experts.down[expert])
            for array, matrix in zip(used, matrices, strict=True):
                array[expert] = matrix


class FusedLatents:
    """A layer's attention over latents for the kernel library, all its matrices packed."""

    def __init__(self, latent: Latent, weights: LayerWeights) -> None:
        maps = [_structures(linear) for linear in (weights.key_up, weights.value_up) if linear is not None]
        self._arrays = [(Matrix * len(each))(*each) for each in maps]  # the structure holds addresses only
        key_up, value_up = map(ctypes.addressof, self._arrays)
        # Structure for the library
        self.structure = kernel.Latents(
            rank=latent.rank,
            query_up=Matrix() if weights.query_up is None else _structures(weights.query_up)[0],
            key_up=key_up,
            value_up=value_up,
            query_floor=latent.query_rank * LATENT_EPSILON,
            key_floor=latent.rank * LATENT_EPSILON,
            interleaved=latent.interleaved,
        )


class FusedMemory:
    """A layer's gated DeltaNet, or Mamba-2, for the kernel library, all its matrices packed."""

    def __init__(self, delta: DeltaNet, weights: LayerWeights, more: Matrix, epsilon: float) -> None:
        kernel_, norm = weights.convolution, weights.memory_norm
        assert kernel_ is not None
        assert norm is not None
        assert weights.decay is not None
        assert weights.decay_bias is not None
        taps, gains = kernel_.t().contiguous(), torch.ones(2, delta.key_dim)
        gains[0] *= delta.key_dim**-0.5
        bias = torch.zeros(delta.channels) if weights.convolution_bias is None else weights.convolution_bias
        self._held = taps, bias, gains  # the structure holds addresses only
        # Structure for the library
        self.structure = kernel.Memory(
            key_heads=delta.key_heads,
            heads=delta.heads,
            key_dim=delta.key_dim,
            value_dim=delta.value_dim,
            width=len(taps) - 1,
            kernel=taps.data_ptr(),
            bias=bias.data_ptr(),
            gains=gains.data_ptr(),
            decay=weights.decay.data_ptr(),
            decay_bias=weights.decay_bias.data_ptr(),
            skip=None if weights.skip is None else weights.skip.data_ptr(),
            norm=norm.gain.data_ptr(),
            norm_floor=norm.gain.shape[-1] * epsilon,
            more=more,
            tiled=delta.tiled,
            joined=delta.joined,
            paired=delta.paired,
        )


class FusedLayer:
    """Weights of one layer for the kernel library, all its matrices packed; see `made_of`."""

    def __init__(self, config: ModelConfig, weights: LayerWeights, matrices: dict[str, Matrix]) -> None:
        experts = weights.experts
        mixture = None if experts is None or config.mixture is None else FusedMixture(config.mixture, experts)
        latents = None if config.latent is None else FusedLatents(config.latent, weights)
        more, memory = matrices.pop("more", Matrix()), None
        if weights.decay is not None and config.delta is not None:
            memory = FusedMemory(config.delta, weights, more, config.norm_epsilon)
        self._held = weights, mixture, latents, memory  # the structure holds addresses only
        self._bring = None if mixture is None else mixture.bring
        hidden, head_dim = config.hidden_size, config.head_dim
        end_epsilon = config.norm_epsilon if config.end_norm_epsilon is None else config.end_norm_epsilon
        self.structure = kernel.Layer(
            hidden=hidden,
            heads=config.heads,
            kv_heads=config.kv_heads,
            head_dim=head_dim,
            attention_norm=_gain(weights.attention_norm),
            mlp_norm=_gain(weights.mlp_norm),
            query_norm=_gain(weights.query_norm),
            key_norm=_gain(weights.key_norm),
            attention_end_norm=_gain(weights.attention_end_norm),
            mlp_end_norm=_gain(weights.mlp_end_norm),
            sinks=None if weights.sinks is None else weights.sinks.data_ptr(),
            **matrices,
            mixture=None if mixture is None else ctypes.addressof(mixture.structure),
            latents=None if latents is None else ctypes.addressof(latents.structure),
            memory=None if memory is None else ctypes.addressof(memory.structure),
            value_norm=_gain(weights.value_norm),
            router_norm=_gain(weights.router_norm),
            experts_norm=_gain(weights.experts_norm),
            network_end_norm=_gain(weights.network_end_norm),
            experts_end_norm=_gain(weights.experts_end_norm),
            input_norm=_gain(weights.input_norm),
            scalar=None if weights.scalar is None else weights.scalar.data_ptr(),
            keys=kernel.KEYS[config.keys_of is not None, config.values_are_keys],
            norm_floor=hidden * config.norm_epsilon,
            head_norm_floor=head_dim * config.norm_epsilon,
            end_norm_floor=hidden * end_epsilon,
            scale=config.attention_scale,
            soft_cap=config.attention_soft_cap or 0.0,
            residual_scale=config.residual_scale,
            activation=kernel.ACTIVATIONS[config.activation],
            gated=config.family.output_gate == "queries" and memory is None,
        )

    @classmethod
    def made_of(cls, config: ModelConfig, weights: LayerWeights, cache: torch.dtype) -> FusedLayer | None:
        """Make the layer, or return None if the library cannot compute it with a cache of this type."""
        matrices = _matrices(weights)
        fits = (
            (weights.convolution is None or config.delta is not None)
            and cache in (torch.bfloat16, torch.int8)
            and _fits(config)
            and (weights.experts is None or weights.experts.latent_in is None)
            and _alike(weights.experts)
            and _heads_alike(weights)
        )
        return cls(config, weights, matrices) if fits and matrices is not None else None

    def __call__(self, step: FusedStep, caches: ctypes.Array[ctypes.c_void_p], index: int, hidden: Tensor) -> None:
        """Run the layer over hidden (n, h) float32 in place.

        Args:
            caches: Addresses of the caches of the step's texts, see `engine.kernels.layer.stores`.
            index: Index of the layer in the caches.
        """
        kernel.forward(self.structure, step.step, caches, index, hidden, self._bring)


def can_fuse(config: ModelConfig) -> bool:
    """Return whether the library can compute all layers of this model, provided that their matrices are packed."""
    latent = config.mixture is not None and config.mixture.latent > 0
    return _fits(config) and not latent and (not config.convolutions or config.delta is not None)


def _fits(config: ModelConfig) -> bool:
    return (
        library.available() is not None
        and config.head_dim % kernel.HEAD_DIM_MULTIPLE == 0
        and config.activation in kernel.ACTIVATIONS
        and (config.delta is None or (config.delta.key_dim | config.delta.value_dim) % kernel.HEAD_DIM_MULTIPLE == 0)
    )


def fused_text(
    count: int, mask: Tensor | Paths | Ends | None, cache: Tensor, length: int, uncommitted: int = 0
) -> FusedText:
    """Describe the rows of one text in a forward.

    Args:
        count: New rows, n.
        mask: (n, uncommitted + n) bool, True where new row i sees uncommitted row j, its own included, or the same
            as paths or ends; None for a chain that continues all of them.
        cache: `KVCache.store` of any layer, for its shape.
        length: Committed rows.
        uncommitted: Uncommitted rows of earlier forwards that stay.
    """
    ancestors = ahead = None
    chain = _chain(uncommitted + count)[uncommitted : uncommitted + count]
    if mask is None:
        depths = chain
    elif isinstance(mask, Ends):
        depths, ahead = mask.counts, mask.counts - chain
    elif isinstance(mask, Paths):
        depths, ancestors = mask.depths, mask.rows
    else:
        depths = mask.sum(1, dtype=torch.int32)
        # A stable sort brings the visible rows to the front, in order.
        order = mask.to(torch.int8).argsort(dim=1, descending=True, stable=True)
        ancestors = order[:, : int(depths.max())].to(torch.int32).contiguous()
    text = kernel.Text(
        rows=count,
        length=length,
        pending=uncommitted,
        capacity=cache.shape[2],
        ancestors_stride=0 if ancestors is None else ancestors.shape[1],
        depths=depths.data_ptr(),
        ancestors=None if ancestors is None else ancestors.data_ptr(),
        ahead=None if ahead is None else ahead.data_ptr(),
    )
    return FusedText(text, tuple(part for part in (depths, ancestors, ahead) if part is not None))


def fused_step(
    texts: Sequence[FusedText],
    cache: torch.dtype,
    window: int | None,
    rotation: Rotation | None,
    inputs: Tensor | None = None,
) -> FusedStep:
    """Describe one forward.

    Args:
        texts: Texts of the forward, in the order of its rows.
        cache: Type of keys and values.
        window: Positions that a row sees, its own included; None for all.
        rotation: Rotation in float32, or None if nothing is rotated.
        inputs: (n, layers, p) float32 inputs of each layer beside its rows, or None.
    """
    cosine = sine = factors = None
    if rotation is not None:
        cosine, sine, factors = (None if part is None else part.contiguous() for part in rotation)
    each = (kernel.Text * len(texts))(*(one.text for one in texts))
    step = kernel.Step(
        m=sum(one.text.rows for one in texts),
        texts=len(texts),
        text=ctypes.addressof(each),
        window=window or 0,
        rotated=0 if cosine is None else cosine.shape[-1],
        cosine=None if cosine is None else cosine.data_ptr(),
        sine=None if sine is None else sine.data_ptr(),
        query_factors=None if factors is None else factors.data_ptr(),
        inputs=None if inputs is None else inputs.data_ptr(),
        inputs_stride=0 if inputs is None else inputs.stride(0),
        cache_type=kernel.CACHE_8_BITS if cache == torch.int8 else 0,
    )
    return FusedStep(step, (each, *texts, cosine, sine, factors, inputs))


_depths = torch.arange(1, 1025, dtype=torch.int32)


def _chain(count: int) -> Tensor:
    """Return the numbers from 1 to at least ``count``."""
    global _depths
    if len(_depths) < count:
        _depths = torch.arange(1, 2 * count + 1, dtype=torch.int32)
    return _depths


def _alike(experts: Experts | None) -> bool:
    """Return whether the library can compute the experts: all packed, and the same types in each expert."""
    if experts is None:
        return True
    parts = [_packed(matrix) for matrix in experts.matrices]
    if any(part is None for part in parts):
        return False
    kinds = [[part.matrix.type for part in found] for found in parts if found is not None]
    own = len(experts.gate_up)
    gates, downs = kinds[-2 * own : -own], kinds[-own:]
    return all(kind == each[0] for each in (gates, downs) for kind in each)


def _heads_alike(weights: LayerWeights) -> bool:
    """Return whether the library can compute the maps of latents: all packed, and the same types in each head."""
    if weights.query_up is not None and _packed(weights.query_up) is None:
        return False
    heads = [_packed(linear) for linear in (weights.key_up, weights.value_up) if linear is not None]
    return all(parts is not None and len({part.matrix.type for part in parts}) == 1 for parts in heads)


def _packed(linear: LinearMap) -> list[PackedLinear] | None:
    """Return a map's matrices, or None if one is dense."""
    parts = linear.parts if isinstance(linear, JoinedLinear) else (linear,)
    found = [part for part in parts if isinstance(part, PackedLinear)]
    return found if len(found) == len(parts) else None


def _structures(linear: LinearMap) -> list[Matrix]:
    return [part.structure for part in _packed(linear) or ()]


def _gain(norm: Norm | None) -> int | None:
    return None if norm is None else norm.gain.data_ptr()


def _matrices(weights: LayerWeights) -> dict[str, Matrix] | None:
    """Return the layer's matrices by the kernel's names, or None if one is dense; a fused one's first has all rows."""
    found: dict[str, Matrix] = {}
    remembers = weights.decay is not None
    for names, linear in (
        (("q", "k", "v")[: 1 if remembers else 3], weights.qkv),
        (("k",) if remembers else ("attention_gate",), weights.attention_gate),
        (("v", "more"), weights.memory_gates),
        (("output",), weights.output),
        (("gate", "up"), weights.gate_up),
        (("down",), weights.down),
        (("input_gate",), weights.input_gate),
        (("input_projection",), weights.input_projection),
    ):
        if linear is None:
            continue
        parts = _packed(linear)
        if parts is None:
            return None
        found |= {name: part.structure for name, part in zip(names, parts, strict=False)}
    return found
