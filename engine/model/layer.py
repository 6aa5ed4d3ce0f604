"""The weights that the decoder runs on, and the interface through which it gets them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Protocol

import torch
from torch import Tensor

from engine.model.embedding import Embedding, LayerInputs
from engine.model.linear import LinearMap, Norm
from engine.model.mixture import Experts, Repeats

if TYPE_CHECKING:
    from engine.model.kv_cache import FarRows, KVCache, RowsBeside, Side


@dataclass(frozen=True)
class LayerWeights:
    """Weights of one layer: h = hidden size, q and kv = widths of all query and key heads, f = intermediate size."""

    # Norm before attention, or None if its input is taken unchanged (the first block of a draft)
    attention_norm: Norm | None
    qkv: LinearMap | None  # map h -> q + 2 kv; None if the layer has a network alone
    output: LinearMap | None  # map q -> h, or None
    mlp_norm: Norm | None  # norm before the feed-forward network; None if the layer has none
    gate_up: LinearMap | None  # map h -> 2 f, gate first; None if there are only experts
    down: LinearMap | None  # map f -> h, or None
    query_norm: Norm | None = None  # norm of each query head, or None
    key_norm: Norm | None = None  # norm of each key head, or None
    attention_end_norm: Norm | None = None  # norm after attention, before the residual sum, or None
    mlp_end_norm: Norm | None = None  # norm after the feed-forward network, or None
    experts: Experts | None = None  # experts whose results are added to those of the network, or None
    # (heads,) float32 score of each query head that takes a share of the attention and gives nothing, or None
    sinks: Tensor | None = None
    # (c, k) float32 kernel of a short convolution in attention's place, or None for attention. A gated one has h -> 3
    # h in ``qkv`` and h -> h in ``output``; one before gated DeltaNet has h -> queries, keys and values, perhaps
    # with output gates, and values -> h; Mamba-2 has h -> output gates, values, keys, queries and times.
    convolution: Tensor | None = None
    convolution_bias: Tensor | None = None  # (c,) float32, or None
    value_norm: Norm | None = None  # norm of each value head, or None
    # Norm of the residual stream before the router, or None if the router maps the network's input
    router_norm: Norm | None = None
    experts_norm: Norm | None = None  # norm of the residual stream before the experts, or None
    network_end_norm: Norm | None = None  # norm after the network alone, or None
    experts_end_norm: Norm | None = None  # norm after the experts alone, or None
    # Map h -> p, which gates the layer's own rows of the second embedding, or None
    input_gate: LinearMap | None = None
    input_projection: LinearMap | None = None  # map p -> h, or None
    input_norm: Norm | None = None  # norm after that map, or None
    scalar: Tensor | None = None  # (1,) factor of the layer's output, or None
    # Map query rank -> heads of queries, for attention over latents (`engine.model.latent`). There ``qkv`` is h
    # -> query rank or all queries, the latent, rotated keys; ``query_norm`` and ``key_norm`` have the query's
    # rank and the latent's. None if queries are mapped directly.
    query_up: LinearMap | None = None
    # Map of each head's plain channels of a query -> latent, one head after the other, or None
    key_up: LinearMap | None = None
    value_up: LinearMap | None = None  # map latent -> each head's values, one head after the other, or None
    # Map h -> q, or to the number of heads, whose sigmoid multiplies attention's result (and itself too after gated
    # DeltaNet), or None
    attention_gate: LinearMap | None = None
    # Map h -> two numbers for each head of gated DeltaNet: how much it writes, and how much stays; or None
    memory_gates: LinearMap | None = None
    decay: Tensor | None = None  # (heads,) float32 factors of how much goes, below 0, or None
    decay_bias: Tensor | None = None  # (heads,) float32, added before that, or None
    skip: Tensor | None = None  # (heads,) float32 share of a value that each head of Mamba-2 gives itself, or None
    # Norm of each head's result; or (key heads, values of each) for Mamba-2; or None
    memory_norm: Norm | None = None

    def parts(self) -> Iterator[Norm | LinearMap | Experts | Tensor]:
        """Yield every norm, matrix and vector of the layer, and the experts as one part."""
        for field in fields(self):
            part = getattr(self, field.name)
            if part is not None:
                yield part

    @property
    def size_bytes(self) -> int:
        """Bytes in memory."""
        return sum(part.nbytes if isinstance(part, Tensor) else part.size_bytes for part in self.parts())


@dataclass(frozen=True)
class ModelWeights:
    """A whole model in memory."""

    embedding: Embedding  # V rows of h
    layers: tuple[LayerWeights, ...]  # weights of the layers, in order
    final_norm: Norm  # norm before the head
    head: LinearMap  # map h -> V
    tied: bool  # True if the embedding is the head's memory
    parameters: int  # number of weights, shared ones counted once
    activations: torch.dtype  # type of hidden states
    cache: torch.dtype  # type of keys and values
    notes: tuple[str, ...] = ()  # sentences for the user about what could not be done as asked
    inputs: LayerInputs | None = None  # rows of a second embedding that enter each layer, or None

    @property
    def size_bytes(self) -> int:
        """Bytes in memory, shared ones counted once."""
        outer = self.final_norm.size_bytes + self.head.size_bytes
        if self.inputs is not None:
            outer += self.inputs.size_bytes
        if not self.tied:
            outer += self.embedding.size_bytes
        return outer + sum(layer.size_bytes for layer in self.layers)


OnWait = Callable[[], bool]
"""Work to do while weights are on their way, a few milliseconds of it. True where there was something to do, False
where the caller should rather sleep a moment; raises to cancel."""


def no_work() -> bool:
    """Return False: there is nothing to do while weights are on their way."""
    return False


@dataclass(frozen=True)
class EnteringRows:
    """New rows of one text that enter a model's first layer, for which its cache has made room."""

    hidden: Tensor  # (n, h)
    inputs: Tensor | None  # (n, all layers, p) inputs of the layers beside them, or None
    positions: Tensor  # (uncommitted + n,) int64
    cache: KVCache  # the text's
    mask: Tensor | None  # (n, uncommitted + n) bool, or None for a chain
    uncommitted: int  # uncommitted rows of earlier forwards that stay

    def piece(self, start: int, most: int) -> EnteringRows:
        """Return some of them, for a forward of their own after that of the rows before."""
        own, before = slice(start, start + most), self.uncommitted + start
        hidden = self.hidden[own]
        seen = before + len(hidden)
        inputs = None if self.inputs is None else self.inputs[own]
        mask = None if self.mask is None else self.mask[own, :seen]
        return EnteringRows(hidden, inputs, self.positions[:seen], self.cache, mask, before)


class FirstLayers(Protocol):
    """The first layers of a model, which neither torch nor the kernel library computes."""

    @property
    def count(self) -> int:
        """Number of them."""

    def new_rows(self) -> RowsBeside:
        """Return the part of a new cache that has their keys and values."""

    def forward(self, rows: EnteringRows, stops: Sequence[int], check: Callable[[], None]) -> list[Tensor]:
        """Run new rows of one text.

        Args:
            rows: The rows.
            stops: Layers, ascending, whose inputs (n, h) are returned; their number stands for the last one's output.
            check: Called often; raises to cancel.

        Raises:
            RuntimeError: The device fails.
        """


class WeightSource(ABC):
    """Source of the decoder's weights; a placement is one.

    Embedding, final norm and head are at home. Layers may compute elsewhere.
    """

    inputs: LayerInputs | None = None  # rows of a second embedding that enter each layer, or None
    first: FirstLayers | None = None  # the first layers if they compute by themselves, or None
    embedding: Embedding  # V rows of h
    head: LinearMap  # the map from hidden states to logits, h -> V
    final_norm: Norm  # norm before the head
    home: Side  # the side of embedding, final norm and head
    # Different weights of a layer that come again, as many as a ring has buffers: making their structure takes 0.1 ms
    layers_kept = 4

    @property
    def whole_head(self) -> LinearMap:
        """The head in one piece at home, for a draft that shares it or takes rows of it."""
        return self.head

    @property
    def dtype(self) -> torch.dtype:
        """Type of the activations at home."""
        return self.home.activations

    @property
    def cache_dtype(self) -> torch.dtype:
        """Type of keys and values at home."""
        return self.home.cache

    @property
    def device(self) -> torch.device:
        """Device of the activations at home."""
        return self.home.device

    @property
    def streamed_bytes(self) -> int:
        """Bytes that each forward has to read from the disk; 0 if all weights are in memory."""
        return 0

    @property
    def waited_s(self) -> float:
        """Seconds that `layer` has waited so far."""
        return 0.0

    @property
    def repeats(self) -> Repeats | None:
        """Counter of how rows choose experts again, or None if nobody counts."""
        return None

    def side(self, index: int) -> Side:
        """Return the side that a layer computes on; its keys and values are there too."""
        return self.home

    def carry(self, tensor: Tensor, side: Side) -> Tensor:
        """Return a tensor of one side in the memory of another."""
        return tensor

    def new_far_rows(self, capacity_tokens: int) -> FarRows | None:
        """Return the part of a new cache that attention reads on another device, or None."""
        return None

    @property
    def resident_layers(self) -> tuple[LayerWeights, ...]:
        """Weights of all layers if they stay in the memory of one device, else none."""
        return ()

    @abstractmethod
    def layer(self, index: int, on_wait: OnWait = no_work) -> LayerWeights:
        """Return the weights of a layer, ready to compute with until the next one is asked for.

        Layers are asked for in order, from the first to the last, or to where a forward was cancelled. ``on_wait`` is
        called again and again while the layer is not there yet.
        """
