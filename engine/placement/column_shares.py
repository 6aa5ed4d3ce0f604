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
from engine.placement.footprint import Sizes, dequantizing_traffic
from engine.placement.plan import UnitSpeeds
from engine.sentences import say

# The GPU gets no less of a matrix at first, however long it takes to begin: shares are adjusted by measurement.
LEAST_SHARE = 1 / 32


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
                    say(
                        "The GPU's share of the matrices {kind} is {ratio}, but it must be from 0 to 1.",
                        kind=kind,
                        ratio=f"{ratio:g}",
                    )
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


def head_matrix(config: ModelConfig, weights: WeightFormat) -> Matrix:
    """The head, which is in one part."""
    slot = head_slot(config)
    return Matrix(((slot.shape[0], weights.slot_bytes(slot)),), slot.shape[1])


def balanced_ratios(sizes: Sizes, speeds: UnitSpeeds, most_share: float) -> Ratios:
    """Shares with which both units take equally long for each kind of matrix, by their speeds alone."""

    def share(one: Matrix) -> float:
        moved = dequantizing_traffic(sizes.weights) * one.inputs * sum(rows for rows, _ in one.parts)
        host_s = one.size_bytes / speeds.host_bytes_per_s
        device_s = (one.size_bytes + moved) / speeds.device_bytes_per_s
        return min(max((host_s - speeds.exchange_s) / (host_s + device_s), LEAST_SHARE), most_share)

    kinds = {kind: share(one) for kind, one in matrices(sizes.config, sizes.weights)[0].items()}
    return Ratios(**kinds, head=share(head_matrix(sizes.config, sizes.weights)))


def balanced_boundary(sizes: Sizes, speeds: UnitSpeeds) -> Boundary:
    """The boundary with which both units attend equally long."""
    host, device = speeds.host_bytes_per_s, speeds.device_bytes_per_s
    together_s = sizes.cache(1) / sizes.context * (1.0 / host + 1.0 / device)
    return Boundary(device / (host + device), speeds.exchange_s / together_s)
