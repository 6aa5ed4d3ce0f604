"""The first layers computed on a device, or all of them; everything else on the host.

Embedding and head are always the host's. An embedding is looked up in by a few rows, and logits are wanted on the host,
where tokens are chosen. A head on the device would take the place of as many bytes of layers, which the host would
then have to read for each forward just the same: to compute with them, or to copy them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import torch
from torch import Tensor

from engine.model.embedding import Embedding
from engine.model.layer import LayerWeights, Meanwhile, ModelWeights, Side, nothing_meanwhile
from engine.model.linear import LinearMap
from engine.model.norm import Norm
from engine.placement.link import Link
from engine.placement.placement import InMemory
from engine.placement.resident import Resident


class DeviceLayers(Protocol):
    """Layers that compute on a device."""

    def __len__(self) -> int:
        """How many: the first ones of the model."""
        ...

    def layer(self, index: int) -> LayerWeights:
        """A layer there, ready to compute with until the next one is asked for."""
        ...

    @property
    def size_bytes(self) -> int:
        """Bytes on the device."""
        ...

    @property
    def host_bytes(self) -> int:
        """Bytes in the host's memory."""
        ...

    def release(self) -> None:
        """Free the layers."""
        ...


class HeldLayers:
    """Layers that live on the device.

    Args:
        layers: The first ones of the model.
    """

    host_bytes = 0

    def __init__(self, layers: tuple[LayerWeights, ...]) -> None:
        self._layers = layers

    def __len__(self) -> int:
        return len(self._layers)

    def layer(self, index: int) -> LayerWeights:
        """The layer."""
        return self._layers[index]

    @property
    def size_bytes(self) -> int:
        """Bytes on the device."""
        return sum(layer.size_bytes for layer in self._layers)

    def release(self) -> None:
        """Free the layers."""
        self._layers = ()


class Split(InMemory):
    """Hidden rows go to the device for the first layers and come back for the others.

    Each layer's keys and values stay where it computes; nothing else than the rows of a forward, their positions and
    the tree's mask crosses.

    Source: Dovetail (Zhang et al. 2024), section I: with 7 GB of a GPU's memory instead of 3 a part of the target goes
    there too.

    Args:
        host: The model without its first layers.
        leading: Those layers.
        side: The device and the types there.
        link: The way there.
    """

    def __init__(self, host: ModelWeights, leading: DeviceLayers, side: Side, link: Link) -> None:
        self._count = len(leading)
        self._host = Resident(host)
        self._leading = leading
        self._side = side
        self._link = link

    @property
    def embedding(self) -> Embedding:
        """The embedding, V rows of h, on the host."""
        return self._host.embedding

    @property
    def head(self) -> LinearMap:
        """The map from hidden states to logits, h -> V, on the host."""
        return self._host.head

    @property
    def final_norm(self) -> Norm:
        """Before the head, on the host."""
        return self._host.final_norm

    @property
    def dtype(self) -> torch.dtype:
        """Type of the activations on the host."""
        return self._host.dtype

    @property
    def cache_dtype(self) -> torch.dtype:
        """Type of keys and values on the host."""
        return self._host.cache_dtype

    @property
    def device(self) -> torch.device:
        """The host."""
        return self._host.device

    @property
    def home(self) -> Side:
        """The host."""
        return replace(self._host.home, name="host")

    def side(self, index: int) -> Side:
        """The device for the first layers, the host for the others."""
        return self._side if index < self._count else self.home

    def carry(self, tensor: Tensor, side: Side) -> Tensor:
        """Through the link."""
        return self._link.to_device(tensor) if side == self._side else self._link.to_host(tensor)

    def layer(self, index: int, meanwhile: Meanwhile = nothing_meanwhile) -> LayerWeights:
        """The weights of a layer, where it computes."""
        if index < self._count:
            return self._leading.layer(index)
        return self._host.layer(index - self._count)

    @property
    def bytes_by_device(self) -> dict[str, int]:
        """Bytes of weights held, by device."""
        host = {
            device: size + self._leading.host_bytes for device, size in self._host.bytes_by_device.items()
        }
        return host | {self._side.name: self._leading.size_bytes}

    def release(self) -> None:
        """Free the weights."""
        self._host.release()
        self._leading.release()
