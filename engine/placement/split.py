"""The first layers on a device, everything else on the host."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from engine.model.layer import LayerWeights, Meanwhile, ModelWeights, Side, nothing_meanwhile
from engine.model.linear import LinearMap
from engine.model.norm import Norm
from engine.placement.link import Link
from engine.placement.resident import Resident


class Split:
    """Hidden rows go to the device for the first layers and come back for the others.

    Each layer's keys and values stay where it computes; nothing else than the rows of a forward, their positions and
    the tree's mask crosses.

    Source: Dovetail (Zhang et al. 2024), section I: with 7 GB of a GPU's memory instead of 3 a part of the target goes
    there too.

    Args:
        host: The model without its first layers.
        leading: Those layers, on the device.
        side: The device and the types there.
        link: The way there.
    """

    def __init__(self, host: ModelWeights, leading: tuple[LayerWeights, ...], side: Side, link: Link) -> None:
        self._host = Resident(host)
        self._leading = leading
        self._side = side
        self._link = link

    @property
    def embedding(self) -> Tensor:
        """The embedding table, (V, h), on the host."""
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

    @property
    def streamed_bytes(self) -> int:
        """Nothing is read again."""
        return 0

    @property
    def disk_read_bytes(self) -> int:
        """Nothing is read again."""
        return 0

    @property
    def waited_s(self) -> float:
        """Nothing has to be waited for."""
        return 0.0

    def side(self, index: int) -> Side:
        """The device for the first layers, the host for the others."""
        return self._side if index < len(self._leading) else self.home

    def carry(self, tensor: Tensor, side: Side) -> Tensor:
        """Through the link."""
        return self._link.to_device(tensor) if side == self._side else self._link.to_host(tensor)

    def layer(self, index: int, meanwhile: Meanwhile = nothing_meanwhile) -> LayerWeights:
        """The weights of a layer, where it computes."""
        leading = len(self._leading)
        return self._leading[index] if index < leading else self._host.layer(index - leading)

    @property
    def bytes_by_device(self) -> dict[str, int]:
        """Bytes of weights held, by device."""
        there = {self._side.name: sum(layer.size_bytes for layer in self._leading)}
        return self._host.bytes_by_device | there

    def release(self) -> None:
        """Free the weights."""
        self._host.release()
        self._leading = ()
