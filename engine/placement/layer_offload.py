"""Placement in which a device computes all layers and holds some: the others pass through a ring of buffers there.

While a layer computes the next ones are on their way, and after the last layer the first ones of the next forward.
The layers that stay are spread evenly among the others, so that each of them gives the copies time to get ahead.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from engine.model.layer import LayerWeights
from engine.placement.device import Copies, Link, Mark, copies_to, device_layer, layer_tensors
from engine.placement.plan import COPIED, DEVICE, Footprint, PlacementPlan, Room, Sizes
from engine.placement.source import Placed, TargetSource
from engine.placement.split import DeviceLayers, split
from engine.sentences import say

# Alignment of tensors in a buffer: that of device allocations, so that no kernel sees a smaller one.
_ALIGNMENT_BYTES = 256
# One layer computes while the next one comes.
_BUFFERS = 2


@dataclass(frozen=True)
class LayerOffloadPlan(PlacementPlan):
    """Plan with all layers computed on the GPU; those that do not fit are copied from the host each time."""

    name = "layer-offload"

    @classmethod
    def fit(cls, sizes: Sizes, room: Room, most: int) -> LayerOffloadPlan | None:
        """Return the plan with as many layers staying as possible, beside the ring that the others pass through."""
        layers = sizes.config.layers
        # If more were to stay than the ring leaves of the layers, all of them could.
        ring = min(_BUFFERS, layers)
        least = cls.of(layers, 0).device(sizes).total  # the ring, all keys and values, and what computes
        largest = (room.device_bytes - least) // min(sizes.device_layers)
        for staying in (layers, *range(min(layers - ring, most, largest), -1, -1)):
            plan = cls.of(layers, staying)
            if staying <= most and plan.fits(sizes, room):
                return plan
        return None

    @classmethod
    def of(cls, layers: int, staying: int) -> LayerOffloadPlan:
        """Return the plan of so many staying layers, spread evenly so that each gives the copies time."""
        passing = layers - staying
        on_the_way = {at * layers // passing for at in range(passing)}
        places = tuple(COPIED if index in on_the_way else DEVICE for index in range(layers))
        return cls(places, min(_BUFFERS, layers) if passing else 0)

    def device(self, sizes: Sizes, draft_bytes: int = 0) -> Footprint:
        """Return the footprint in a GPU's memory, the ring included."""
        return replace(super().device(sizes, draft_bytes), buffers=self.buffers * max(sizes.device_layers))

    def load(self, source: TargetSource) -> Placed:
        """Read one layer after the other on its way to the GPU, or to the host's memory that is pinned for it."""
        host, device = source.host(()), source.link.device
        copied = [index for index, place in enumerate(self.layers) if place.copied]
        held = LayerOffload(
            source.layer,
            len(self.layers),
            copied,
            self.buffers,
            source.device_type,
            source.link,
            copies_to(device),
        )
        devices = f"{device} ({self.device_layers} of {len(self.layers)} layers stay there), cpu"
        return split(source, host, held, devices)

    def summary(self) -> str:
        return say(
            "{count} of {layers} layers on the GPU, the others copied there as needed",
            count=self.device_layers,
            layers=len(self.layers),
        )


@dataclass
class _Slot:
    """A buffer on the device."""

    number: int  # number of the buffer
    buffer: Tensor  # (size,) uint8
    free_at: Mark  # end of computing the layer that was in it last
    layer: int = -1  # layer that was copied into it last
    done_at: Mark = None  # end of that copy


class LayerOffload(DeviceLayers):
    """Layers that all compute on a device and live there, or in the host's memory.

    Args:
        host_layer: Reads a layer into the host's memory, by its index; nothing of it is kept.
        count: Layers of the model.
        passing: Layers that are copied for each forward, in order; the others stay on the device.
        buffers: Layers that the ring holds: at least 2, unless all stay.
        dtype: Type of the device's activations.
        link: The way there; it counts what is copied.
        copies: Copies to the far end of the link.
    """

    def __init__(
        self,
        host_layer: Callable[[int], LayerWeights],
        count: int,
        passing: Collection[int],
        buffers: int,
        dtype: torch.dtype,
        link: Link,
        copies: Copies,
    ) -> None:
        self._link = link
        self._copies = copies
        self._passing = tuple(passing)
        held: dict[int, LayerWeights] = {}
        self._images: dict[int, Tensor] = {}
        imaged: dict[int, LayerWeights] = {}
        for index in range(count):
            layer = host_layer(index)
            if index not in self._passing:
                tensors = map(link.to_device, layer_tensors(layer, dtype))
                held[index] = device_layer(layer, tensors)
                continue
            size = sum(_spaced(tensor.nbytes) for tensor in layer_tensors(layer, dtype))
            image = self._images[index] = copies.host_buffer(size)
            for part, tensor in zip(
                _in_buffer(image, layer_tensors(layer, dtype)), layer_tensors(layer, dtype), strict=True
            ):
                part.copy_(tensor)
            imaged[index] = device_layer(layer, _in_buffer(image, layer_tensors(layer, dtype)))
        super().__init__(held)
        self.indexes = frozenset(range(count))
        largest = max((image.nbytes for image in self._images.values()), default=0)
        self._slots = [
            _Slot(number, copies.device_buffer(largest), copies.computed())
            for number in range(buffers if self._passing else 0)
        ]
        self._views = {
            (index, slot.number): device_layer(layer, _in_buffer(slot.buffer, layer_tensors(layer, dtype)))
            for index, layer in imaged.items()
            for slot in self._slots
        }
        self._free = deque(self._slots)
        self._ahead: deque[_Slot] = deque()
        self._computing: _Slot | None = None
        self._next = 0
        self._fetch()

    def layer(self, index: int) -> LayerWeights:
        if self._computing is not None:
            self._computing.free_at = self._copies.computed()
            self._free.append(self._computing)
            self._computing = None
        if index in self._held:
            self._fetch()
            return self._held[index]
        if not self._ahead or self._ahead[0].layer != index:
            # A forward was cancelled, so the layers fetched for it are not the ones that come next.
            self._free.extend(self._ahead)
            self._ahead.clear()
            self._next = self._passing.index(index)
            self._fetch()
        slot = self._computing = self._ahead.popleft()
        self._copies.wait(slot.done_at)
        self._fetch()
        return self._views[index, slot.number]

    @property
    def size_bytes(self) -> int:
        """Bytes on the device: layers that stay, and buffers."""
        return super().size_bytes + sum(slot.buffer.nbytes for slot in self._slots)

    @property
    def host_bytes(self) -> int:
        return sum(image.nbytes for image in self._images.values())

    def release(self) -> None:
        try:
            self._copies.finish()
        finally:  # a lost device raises, and must not hold on to the host's memory
            super().release()
            self._images, self._views = {}, {}
            self._slots, self._free, self._ahead, self._computing = [], deque(), deque(), None

    def _fetch(self) -> None:
        """Begin to copy into every buffer that is free."""
        while self._free:
            slot = self._free.popleft()
            slot.layer = self._passing[self._next]
            image = self._images[slot.layer]
            slot.done_at = self._copies.start(slot.buffer[: len(image)], image, slot.free_at)
            self._link.to_device_bytes += image.nbytes
            self._ahead.append(slot)
            self._next = (self._next + 1) % len(self._passing)


def _spaced(size_bytes: int) -> int:
    """Return the bytes from the beginning of a tensor of this size to the beginning of the next."""
    return -(-size_bytes // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES


def _in_buffer(buffer: Tensor, tensors: Iterator[Tensor]) -> Iterator[Tensor]:
    """Yield views of a buffer, of the shapes and types of these tensors, one after the other."""
    start = 0
    for tensor in tensors:
        yield buffer[start : start + tensor.nbytes].view(tensor.dtype).view(tensor.shape)
        start += _spaced(tensor.nbytes)
