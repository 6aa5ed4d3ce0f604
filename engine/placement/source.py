"""Source of a target's weights for a placement: the checkpoint, or the file that it was converted to."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field, replace

import torch

from engine.model.config import ModelConfig
from engine.model.converted import (
    Conversion,
    ConversionKeeper,
    Converted,
    streams_as_it_is,
)
from engine.model.footprint import weight_bytes
from engine.model.layer import LayerWeights, ModelWeights, WeightSource
from engine.model.loader import load_layers, load_weights
from engine.model.packed_loader import load_packed, load_packed_layer
from engine.model.weight_format import WeightFormat
from engine.placement.device import Link, half_type
from engine.placement.layer_room import OnDisk
from engine.weights.checkpoint import Checkpoint
from engine.weights.packed_file import PackedFileUnusable, spoil_packed_file

_CPU = torch.device("cpu")
# Converting less than this takes a few seconds.
_WORTH_KEEPING_BYTES = 128 << 20


class Placement(WeightSource):
    """A `WeightSource` that accounts for its memory and can let go of it."""

    @property
    @abstractmethod
    def bytes_by_device(self) -> dict[str, int]:
        """Bytes of weights held, by device."""

    @property
    def disk_read_bytes(self) -> int:
        """Bytes of weights read from the disk since they were placed, what was read ahead included."""
        return 0

    @abstractmethod
    def release(self) -> None:
        """Free the weights; the placement cannot be used after it."""


@dataclass(frozen=True)
class Placed:
    """A target's weights where they are to compute."""

    placement: Placement  # the weights
    parameters: int  # number of weights, shared ones counted once
    devices: str  # devices that the layers compute on, in words
    notes: tuple[str, ...]  # sentences for the user about what could not be done as asked
    # Brings layers that compute on a GPU back to the host, should the GPU fail; None if there are none.
    # Embedding and head are the same ones. Raises the errors of reading the checkpoint
    at_home: Callable[[], Placement] | None = None


@dataclass
class TargetSource:
    """Reads a target's weights for a placement."""

    conversion: Conversion  # the model, and the format of its weights on the host
    link: Link  # the way to the GPU, or to the host itself if there is none
    progress: Callable[[int, int], None]  # called with bytes of weights read, and in all
    check: Callable[[], None]  # called often; raises to cancel
    _kept: Converted | None = field(default=None, init=False)

    @property
    def checkpoint(self) -> Checkpoint:
        """The model."""
        return self.conversion.checkpoint

    @property
    def config(self) -> ModelConfig:
        """Config of this checkpoint."""
        return self.conversion.config

    @property
    def weights(self) -> WeightFormat:
        """Format of the weights on the host."""
        return self.conversion.weights

    @property
    def device_type(self) -> torch.dtype:
        """Type of the activations on the GPU."""
        return half_type(self.link.device) if self.weights.packed else self.weights.dense

    def host(self, layers: Collection[int] | None = None) -> ModelWeights:
        """Return the model on the host, with only these layers, or all of them for None."""
        checkpoint, config, weights, check = self.checkpoint, self.config, self.weights, self.check
        wanted = range(config.layers) if layers is None else sorted(layers)
        if not weights.packed:
            return load_weights(checkpoint, config, weights.dense, _CPU, self.progress, check, wanted)
        worth_keeping = self._worth_keeping()
        self._kept = self._find_kept() if worth_keeping else None
        if self._kept is not None or not worth_keeping:
            refused = None if self._kept is None else self._kept.refused
            return load_packed(checkpoint, config, weights, self.progress, check, wanted, self._kept, refused)
        with ConversionKeeper(self.conversion) as keeper:
            host = load_packed(checkpoint, config, weights, self.progress, check, wanted, keep=keeper.take)
            if len(wanted) < config.layers:
                keeper.abandon()  # it has not seen all layers
        return host

    def layer(self, index: int, arranged: bool = True) -> LayerWeights:
        """Return one layer on the host; packed rows are arranged for the kernels, or as a file has them."""
        self.check()
        if self.weights.packed:
            place = self._kept or self.checkpoint
            return load_packed_layer(place, self.config, self.weights, index, self.check, arranged)
        return self._dense_layer(index, self.weights.dense, _CPU)

    def device_layer(self, index: int) -> LayerWeights:
        """Return one dense layer, read into the GPU's memory slice by slice."""
        return self._dense_layer(index, self.device_type, self.link.device)

    def on_disk(self) -> OnDisk:
        """Return the model as it is read for each forward: in a file of its format where that makes layers sooner."""
        model = OnDisk(self.checkpoint, self.config, self.weights)
        if streams_as_it_is(self.config, self.weights):
            return model
        return replace(model, converted=self.conversion.open(self.progress, self.check))

    def _dense_layer(self, index: int, dtype: torch.dtype, device: torch.device) -> LayerWeights:
        one = range(index, index + 1)
        return load_layers(self.checkpoint, self.config, one, dtype, device, check=self.check)[0]

    def _worth_keeping(self) -> bool:
        """Return whether converting the checkpoint anew for each load would take long."""
        weights = self.weights
        few_bits = weights.measured_as != "bf16" and weights.stored is None
        whole_bytes = weight_bytes(self.config, weights)
        return few_bits and not self.checkpoint.from_gguf and whole_bytes >= _WORTH_KEEPING_BYTES

    def _find_kept(self) -> Converted | None:
        """Return the file that an earlier load converted, if it is whole."""
        found = self.conversion.find()
        if found is None:
            return None
        try:
            found.packed.check(self.check)
        except PackedFileUnusable:
            with suppress(OSError):
                spoil_packed_file(found.packed.path)
            return None
        return found
