"""Placement in which every matrix is divided by output columns between the host and a GPU, which compute at once.

Both read the same rows and each writes its own part of the result, so nothing is added up between them. Norms,
rotations, activations and residual sums are the host's. The GPU attends over the first committed rows, the host
over the others and the tree; both have a softmax of their own, and the parts are weighted by their sums.

Source: Ghidorah (Wei et al. 2025), section III-B. If the memory of both is one, rows do not cross on CUDA devices,
since torch lets both see one memory there (`SharedLink`); elsewhere they are copied and counted.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import torch

from engine.errors import InvalidOption
from engine.kernels.library import PANEL_ROWS
from engine.model.attention import SCORES_LIMIT_BYTES
from engine.model.config import ModelConfig
from engine.model.layer import LayerWeights, ModelWeights
from engine.model.linear import LinearMap
from engine.model.tensors import head_slot, layer_slots
from engine.model.weight_format import WeightFormat
from engine.placement.column_linear import ColumnLinear, DividedRows, panels, staying
from engine.placement.device import SharedLink
from engine.placement.plan import Footprint, LayerPlace, PlacementPlan, Room, Sizes, Units, device_format
from engine.placement.resident import Resident
from engine.placement.source import Placed, Placement, TargetSource
from engine.sentences import figure, say

# Distances from the best shares that are tried if memory is short.
_STEPS = 128
# Rows of the forwards that the matrices may be divided for.
_WIDTHS = (1, 2, 4, 8, 16, 32, 64)
_LOGIT_ROWS = 65


@dataclass(frozen=True)
class Ratios:
    """The GPU's share of the output columns of each kind of matrix, from 0 to 1.

    Raises:
        InvalidOption: A ratio is out of range.
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
        """Return the same ratio for every kind."""
        return cls(ratio, ratio, ratio, ratio, ratio)

    def toward(self, goal: float, share: float) -> Ratios:
        """Return ratios on the way to the same one for all."""
        return Ratios(**{kind: ratio + (goal - ratio) * share for kind, ratio in vars(self).items()})


@dataclass(frozen=True)
class Boundary:
    """The boundary before which attention reads committed rows on the GPU."""

    share: float = 0.0  # share of the rows of a text
    # Rows that the GPU does not get because the exchange takes as long as they would on the host
    offset: float = 0.0

    def rows(self, length: int) -> int:
        """Return the rows before the boundary in a text of so many; it moves by whole panels as the text grows."""
        return max(0, min(int(self.share * length - self.offset), length)) // PANEL_ROWS * PANEL_ROWS


NO_COLUMNS, NO_ROWS = Ratios(), Boundary()
"""Nothing on the GPU."""


@dataclass(frozen=True)
class Exchange:
    """A kind of matrix, for its time and the bytes of its rows."""

    of_layer: float  # share of the bytes of a layer's matrices; 1 for the head
    there: float  # the GPU's share of it, in whole panels
    in_bytes: int  # bytes of a row on its way to the GPU
    out_bytes: int  # bytes of a row on its way back


@dataclass(frozen=True)
class Matrix:
    """One kind of matrix by its parts, which lie one after the other."""

    parts: tuple[tuple[int, int], ...]  # outputs and bytes of each part
    inputs: int  # inputs of all parts

    @property
    def size_bytes(self) -> int:
        """Bytes of all parts."""
        return sum(size for _, size in self.parts)

    def there(self, ratio: float) -> int:
        """Return the bytes of the GPU's share."""
        cuts = staying([rows for rows, _ in self.parts], ratio)
        return sum(
            size - size * panels(here) // panels(rows) for (rows, size), here in zip(self.parts, cuts, strict=True)
        )

    def exchange(self, ratio: float, of_layer: float, itemsize: int) -> Exchange:
        """Return its time and its rows, in a type of so many bytes on their way."""
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
    """Return each layer's matrices by kind; layers that are alike have one object.

    Packed matrices are in parts, each in its own type, and dense ones are in one.
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
    """Return the bytes of a layer's matrices on the GPU."""
    return sum(one.there(vars(ratios)[kind]) for kind, one in kinds.items())


def exchanges(config: ModelConfig, weights: WeightFormat, ratios: Ratios) -> dict[str, Exchange]:
    """Return the exchanges of the first layer's matrices, then of the head, which is in one part."""
    first, head = matrices(config, weights)[0], head_matrix(config, weights)
    whole = sum(one.size_bytes for one in first.values())
    itemsize, shares = device_format(weights).activations.itemsize, vars(ratios)
    layer = {kind: one.exchange(shares[kind], one.size_bytes / whole, itemsize) for kind, one in first.items()}
    return {**layer, "head": head.exchange(ratios.head, 1.0, itemsize)}


def head_matrix(config: ModelConfig, weights: WeightFormat) -> Matrix:
    """Return the head's matrix."""
    slot = head_slot(config)
    return Matrix(((slot.shape[0], weights.slot_bytes(slot)),), slot.shape[1])


def balanced_ratios(sizes: Sizes, units: Units, rows: int, most_share: float) -> Ratios:
    """Return shares with which both units take equally long for each kind of matrix; none if the GPU is no help.

    Args:
        units: Seconds of the forwards that are divided.
        rows: Rows of these that cross; 0 within one memory.
        most_share: Largest share of a matrix on the GPU.
    """
    host, device = units.host, units.device

    def share(kind: str, one: Exchange) -> float:
        host_s, device_s = (unit.head if kind == "head" else one.of_layer * unit.products for unit in (host, device))
        begin_s = device.exchange + rows * one.in_bytes * device.crossing
        each_s = host_s + device_s + rows * one.out_bytes * device.crossing
        return min(max((host_s - begin_s) / each_s, 0.0), most_share)

    every = exchanges(sizes.config, sizes.weights, Ratios.even(1.0))
    return Ratios(**{kind: share(kind, one) for kind, one in every.items()})


def balanced_boundary(sizes: Sizes, units: Units) -> Boundary:
    """Return the boundary with which both units attend equally long."""
    together_s = units.host.attention + units.device.attention
    offset = units.device.exchange * sizes.context / together_s
    return Boundary(units.host.attention / together_s, offset)


@dataclass(frozen=True)
class ColumnsPlan(PlacementPlan):
    """A share of each matrix in the GPU's memory, the rest in the host's."""

    ratios: Ratios = NO_COLUMNS  # the shares that were asked for
    boundary: Boundary = NO_ROWS  # boundary of attention
    shared: bool = False  # True if rows do not cross, because both see them in one memory
    exchanges: tuple[Exchange, ...] = ()  # exchanges of the first layer's matrices, then of the head
    queries: tuple[int, int] = (0, 0)  # bytes of attention's exchange: a row of queries, and its result
    committed_bytes: int = 0  # keys and values of a row in a layer

    name = "columns"
    fuses_layers = False

    @classmethod
    def suited(cls, sizes: Sizes) -> Sizes:
        """Return the sizes with keys and values of 16 bits: only the kernel library reads rows of 8."""
        eight_bits = sizes.weights.cache == torch.int8
        return replace(sizes, weights=replace(sizes.weights, cache=torch.bfloat16)) if eight_bits else sizes

    @classmethod
    def fit(cls, sizes: Sizes, room: Room, most: int) -> ColumnsPlan | None:
        """Return the shares with which both units take equally long, or the nearest that fit; attention's last."""
        config = sizes.config
        own = config.convolutions or config.shapes or config.latent or config.family.output_gate
        undivided = config.mixture is not None or bool(own)
        if not room.device or not most or room.units is None or undivided:
            return None  # layers with any of these, or that read another's keys, are not divided
        units, most_share = room.units(sizes, room.width), most / sizes.config.layers
        shared = room.unified and torch.device(room.device).type == "cuda"
        balanced = balanced_ratios(sizes, units, 0 if shared else room.width, most_share)
        none = cls.of(sizes, NO_COLUMNS)
        in_all = room.host_bytes + (0 if room.unified else room.device_bytes)
        if balanced == NO_COLUMNS or none.host(sizes).total + none.device(sizes).total > in_all:
            return None  # nothing is gained, or both together have too little
        ways = [balanced.toward(0.0, 1 - step / _STEPS) for step in range(_STEPS)]
        ways += [balanced.toward(most_share, step / _STEPS) for step in range(_STEPS + 1)]
        for rows in (balanced_boundary(sizes, units), NO_ROWS):
            plan = _nearest(partial(cls.of, sizes, boundary=rows, shared=shared), ways, sizes, room)
            if plan.fits(sizes, room):
                return plan
        return None

    @classmethod
    def choices(cls, sizes: Sizes, room: Room, most: int) -> Iterator[ColumnsPlan]:
        """Yield plans divided for each width: in wide forwards the processor multiplies for longer than it reads."""
        for width in _WIDTHS:
            found = cls.fit(sizes, replace(room, width=width), most)
            if found is not None:
                yield found

    @classmethod
    def of(cls, sizes: Sizes, ratios: Ratios, boundary: Boundary = NO_ROWS, shared: bool = False) -> ColumnsPlan:
        """Return the plan with these shares."""
        config, weights = sizes.config, sizes.weights
        there = device_format(weights)
        layers = matrices(config, weights)
        # Most layers are the same as another one, and `fit` asks for many plans.
        places: dict[int, LayerPlace] = {}
        for one, size in zip(layers, sizes.layers, strict=True):
            if id(one) not in places:
                share = bytes_there(one, ratios) / size
                places[id(one)] = LayerPlace(host=1.0 - share, device=share)
        return cls(
            tuple(places[id(one)] for one in layers),
            ratios=ratios,
            boundary=boundary,
            shared=shared,
            exchanges=tuple(exchanges(config, weights, ratios).values()),
            queries=(config.query_size * there.cache.itemsize, 4 * config.heads * (config.head_dim + 1)),
            committed_bytes=2 * config.kv_size * there.cache.itemsize,
        )

    def computes_there(self, place: LayerPlace) -> bool:
        """Return False: hidden rows are the host's, and it keeps all keys and values."""
        return False

    @property
    def uses_gpu(self) -> bool:
        return bool(self.boundary.share) or any(one.there for one in self.exchanges)

    @property
    def key(self) -> str:
        shares = " ".join(f"{ratio:.3f}" for ratio in (*vars(self.ratios).values(), self.boundary.share))
        return f"{self.name} {shares}"

    def host(self, sizes: Sizes, draft_bytes: int = 0, baseline_bytes: int = 0) -> Footprint:
        """Return the footprint in the host's memory, where the head is whole in case the GPU fails."""
        footprint = super().host(sizes, draft_bytes, baseline_bytes)
        return replace(footprint, activations=footprint.activations + self._score_bytes(sizes))

    def device(self, sizes: Sizes, draft_bytes: int = 0) -> Footprint:
        """Return the footprint in the GPU's memory: its columns, and a copy of its rows of the cache."""
        config = sizes.config
        layers = sum(size * place.device for size, place in zip(sizes.layers, self.layers, strict=True))
        head = head_matrix(config, sizes.weights).there(self.ratios.head)
        rows = 0 if self.shared else self.boundary.rows(sizes.context)
        logits = int(4 * _LOGIT_ROWS * config.vocabulary_size * self.ratios.head)
        return Footprint(
            weights=int(layers) + head,
            cache=rows * config.layers * self.committed_bytes,
            activations=sizes.device_computing + logits + self._score_bytes(sizes),
            draft=draft_bytes,
        )

    def computing_s(self, units: Units, width: int, position: int) -> float:
        """Return the seconds of layers and head: the slower unit's in each part, or those of the memory of both."""
        device, three = units.device, (units.host, units.device, units.memory)

        def both(there: float, seconds: Iterable[float], row_bytes: int, more_bytes: float = 0.0) -> float:
            host_s, device_s, memory_s = seconds
            if not there:
                return host_s
            crossing = 0.0 if self.shared else (width * row_bytes + more_bytes) * device.crossing
            return max((1.0 - there) * host_s, device.exchange + crossing + there * device_s, memory_s)

        *layer, head = self.exchanges
        seconds = units.host.operators
        for one in layer:
            products = [one.of_layer * unit.products for unit in three]
            seconds += both(one.there, products, one.in_bytes + one.out_bytes)
        there = self.boundary.rows(position) / max(position, 1)
        # The GPU gets the keys and values of each committed token once.
        committed = self.boundary.share * self.committed_bytes
        seconds += both(there, [unit.attention for unit in three], sum(self.queries), committed)
        last = both(head.there, [unit.head for unit in three], head.in_bytes + head.out_bytes)
        return len(self.layers) * seconds + last

    def load(self, source: TargetSource) -> Placed:
        """Read one layer after the other and give the GPU its columns."""
        host, link = source.host(()), source.link
        columns = Columns(host, source, self)

        def at_home() -> Placement:
            return Resident(replace(host, layers=tuple(map(source.layer, range(source.config.layers)))))

        return Placed(columns, host.parameters, f"{link.device} + cpu", host.notes, at_home)

    def summary(self) -> str:
        share = sum(place.device for place in self.layers) / len(self.layers)
        return say(
            "{share} % of each layer's columns on the GPU, the others in memory",
            share=figure(100 * share, ".0f"),
        )

    def as_json(self) -> dict[str, Any]:
        return super().as_json() | {"ratios": vars(self.ratios), "attention": vars(self.boundary)}

    def _score_bytes(self, sizes: Sizes) -> int:
        """Return the bytes of attention's scores, which are explicit if it is divided."""
        scores = 4 * sizes.config.heads * min(512, sizes.context) * sizes.context
        return 2 * min(SCORES_LIMIT_BYTES, scores) if self.boundary.share else 0


def _nearest(made: Callable[[Ratios], ColumnsPlan], ways: Sequence[Ratios], sizes: Sizes, room: Room) -> ColumnsPlan:
    """Return the middle plan, or the nearest one with which neither memory holds too much, if there is any.

    Args:
        made: Makes a plan of shares.
        ways: Shares from none on the GPU to the most.
        room: Memory that may be taken.
    """

    def host_holds(ratios: Ratios) -> bool:
        return made(ratios).host(sizes).total <= room.host_bytes

    def too_much_there(ratios: Ratios) -> bool:
        plan = made(ratios)
        return not room.holds(plan.host(sizes).total if room.unified else 0, plan.device(sizes).total)

    plan = made(ways[_STEPS])
    if plan.fits(sizes, room):
        return plan
    fewest, most = bisect_left(ways, True, key=host_holds), bisect_left(ways, True, key=too_much_there) - 1
    return made(ways[min(max(fewest, _STEPS), most)])


class Columns(Resident):
    """A model whose matrices are divided between the host and a device.

    Args:
        host: The model without its layers.
        source: Reads them, and has the way to the device.
        plan: The device's shares.
    """

    def __init__(self, host: ModelWeights, source: TargetSource, plan: ColumnsPlan) -> None:
        self._boundary = plan.boundary
        self._config, self._dtype, self._link = source.config, source.device_type, source.link
        self._rows_link = SharedLink(source.link.device) if plan.shared else source.link
        self._whole_head = host.head
        head = self._column_linear(host.head, plan.ratios.head, keep_whole=True)
        layers = map(source.layer, range(source.config.layers))
        divided = tuple(self._divide(layer, plan.ratios) for layer in layers)
        super().__init__(replace(host, layers=divided, head=head))

    @property
    def whole_head(self) -> LinearMap:
        return self._whole_head

    @property
    def resident_layers(self) -> tuple[LayerWeights, ...]:
        return ()

    def new_far_rows(self, capacity_tokens: int) -> DividedRows | None:
        if not self._boundary.share:
            return None
        return DividedRows(self._config, capacity_tokens, self._boundary.rows, self._dtype, self._rows_link)

    @property
    def bytes_by_device(self) -> dict[str, int]:
        maps = [part for layer in self._held().layers for part in layer.parts()]
        there = sum(part.device_bytes for part in (*maps, self.head) if isinstance(part, ColumnLinear))
        return {"cpu": self._held().size_bytes, str(self._link.device): there}

    def _divide(self, layer: LayerWeights, ratios: Ratios) -> LayerWeights:
        shares = vars(ratios)
        kinds: dict[str, Any] = {kind: getattr(layer, kind) for kind in shares if kind != "head"}
        for kind, part in kinds.items():
            kinds[kind] = self._column_linear(part, shares[kind])
        return replace(layer, **kinds)

    def _column_linear(self, linear: LinearMap, ratio: float, keep_whole: bool = False) -> ColumnLinear:
        return ColumnLinear(linear, ratio, self._dtype, self._link, self._rows_link, keep_whole)
