"""Shares of a model's matrices and of attention's rows that a GPU computes, and the bytes that they are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from engine.errors import InvalidOption
from engine.kernels.packing import PANEL_ROWS
from engine.model.config import ModelConfig
from engine.model.tensors import head_slot, layer_slots
from engine.model.weight_format import WeightFormat
from engine.placement.column_linear import panels, staying
from engine.placement.footprint import Sizes, device_format
from engine.placement.plan import Units


@dataclass(frozen=True)
class Ratios:
    """The GPU's share of the output columns of each kind of matrix, from 0 to 1.

    Raises:
        InvalidOption: one is out of range.
    """

    qkv: float = 0.0
    output: float = 0.0
    gate_up: float = 0.0
    down: float = 0.0
    head: float = 0.0

    def __post_init__(self) -> None:
        for kind, ratio in vars(self).items():
            if not 0.0 <= ratio <= 1.0:
                raise InvalidOption(
                    "The GPU's share of the matrices {kind} is {ratio}, but it must be from 0 to 1.",
                    kind=kind,
                    ratio=f"{ratio:g}",
                )

    @classmethod
    def even(cls, ratio: float) -> Ratios:
        """The same for every kind."""
        return cls(ratio, ratio, ratio, ratio, ratio)

    def toward(self, goal: float, share: float) -> Ratios:
        """Ratios on the way to the same one for all."""
        return Ratios(**{kind: ratio + (goal - ratio) * share for kind, ratio in vars(self).items()})


@dataclass(frozen=True)
class Boundary:
    """The committed rows that attention reads on the GPU: all before the boundary.

    Attributes:
        share: Of the rows of a text.
        offset: Rows that the GPU does not get because the exchange takes as long as they would on the host.
    """

    share: float = 0.0
    offset: float = 0.0

    def rows(self, length: int) -> int:
        """Rows before the boundary in a text of so many; it moves by whole panels as the text grows."""
        return max(0, min(int(self.share * length - self.offset), length)) // PANEL_ROWS * PANEL_ROWS


NO_COLUMNS, NO_ROWS = Ratios(), Boundary()
"""Nothing on the GPU."""


@dataclass(frozen=True)
class Exchange:
    """A kind of matrix, for its time and the bytes of its rows.

    Attributes:
        of_layer: Its share of the bytes of a layer's matrices; 1 for the head.
        there: The GPU's share of it, in whole panels.
        in_bytes: Bytes of a row on its way to the GPU.
        out_bytes: Bytes of a row on its way back.
    """

    of_layer: float
    there: float
    in_bytes: int
    out_bytes: int


@dataclass(frozen=True)
class Matrix:
    """One kind of matrix by its parts, which stand one behind the other.

    Attributes:
        parts: Outputs and bytes of each.
        inputs: Of all.
    """

    parts: tuple[tuple[int, int], ...]
    inputs: int

    @property
    def size_bytes(self) -> int:
        """Bytes of all parts."""
        return sum(size for _, size in self.parts)

    def there(self, ratio: float) -> int:
        """Bytes of the GPU's share."""
        cuts = staying([rows for rows, _ in self.parts], ratio)
        return sum(
            size - size * panels(here) // panels(rows)
            for (rows, size), here in zip(self.parts, cuts, strict=True)
        )

    def exchange(self, ratio: float, of_layer: float, itemsize: int) -> Exchange:
        """Its time and its rows, in a type of so many bytes on their way."""
        rows = [rows for rows, _ in self.parts]
        out = sum(rows) - sum(staying(rows, ratio))
        return Exchange(
            of_layer,
            self.there(ratio) / self.size_bytes,
            itemsize * self.inputs if out else 0,
            itemsize * out,
        )


# Planning asks for the same models again and again.
@lru_cache(maxsize=64)
def matrices(config: ModelConfig, weights: WeightFormat) -> tuple[dict[str, Matrix], ...]:
    """Each layer's matrices by kind; layers that are alike have one object.

    Packed ones are in parts, each in its own type, and dense ones are one.
    """
    alike: dict[str, dict[str, Matrix]] = {}
    layers = []
    for layer in range(config.layers):
        found: dict[str, Matrix] = {}
        for slot in layer_slots(config, layer):
            if len(slot.shape) == 2:
                part = (slot.shape[0], weights.slot_bytes(slot))
                known = found.get(slot.field)
                parts = () if known is None else known.parts
                if parts and not weights.packed:
                    parts = ((parts[0][0] + part[0], parts[0][1] + part[1]),)
                else:
                    parts = (*parts, part)
                found[slot.field] = Matrix(parts, slot.shape[1])
        layers.append(alike.setdefault(repr(found), found))
    return tuple(layers)


def bytes_there(kinds: dict[str, Matrix], ratios: Ratios) -> int:
    """Bytes of a layer's matrices on the GPU."""
    return sum(one.there(vars(ratios)[kind]) for kind, one in kinds.items())


def exchanges(config: ModelConfig, weights: WeightFormat, ratios: Ratios) -> dict[str, Exchange]:
    """Of a layer's matrices, those of the first layer, then of the head, which is in one part."""
    first, head = matrices(config, weights)[0], head_matrix(config, weights)
    whole = sum(one.size_bytes for one in first.values())
    itemsize, shares = device_format(weights).activations.itemsize, vars(ratios)
    layer = {
        kind: one.exchange(shares[kind], one.size_bytes / whole, itemsize) for kind, one in first.items()
    }
    return {**layer, "head": head.exchange(ratios.head, 1.0, itemsize)}


def head_matrix(config: ModelConfig, weights: WeightFormat) -> Matrix:
    """The head."""
    slot = head_slot(config)
    return Matrix(((slot.shape[0], weights.slot_bytes(slot)),), slot.shape[1])


def balanced_ratios(sizes: Sizes, units: Units, rows: int, most_share: float) -> Ratios:
    """Shares with which both units take equally long for each kind of matrix; none where the GPU is no help.

    Args:
        sizes: Of the model.
        units: Of the forwards that are divided.
        rows: Of these, those that cross; 0 within one memory.
        most_share: Of a matrix on the GPU.
    """
    host, device = units.host, units.device

    def share(kind: str, one: Exchange) -> float:
        host_s, device_s = (
            unit.head if kind == "head" else one.of_layer * unit.products for unit in (host, device)
        )
        begin_s = device.exchange + rows * one.in_bytes * device.crossing
        each_s = host_s + device_s + rows * one.out_bytes * device.crossing
        return min(max((host_s - begin_s) / each_s, 0.0), most_share)

    every = exchanges(sizes.config, sizes.weights, Ratios.even(1.0))
    return Ratios(**{kind: share(kind, one) for kind, one in every.items()})


def balanced_boundary(sizes: Sizes, units: Units) -> Boundary:
    """The boundary with which both units attend equally long."""
    together_s = units.host.attention + units.device.attention
    offset = units.device.exchange * sizes.context / together_s
    return Boundary(units.host.attention / together_s, offset)
