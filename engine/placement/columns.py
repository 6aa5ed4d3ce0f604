"""Every matrix divided by its output columns between the host and a GPU, which compute at the same time.

Both read the same rows and each writes its own part of the result, so nothing is added up between them. Norms,
rotations, activations and residual sums are the host's. Attention over the first committed rows is the GPU's, over the
others and the tree the host's; both have a softmax of their own, and the parts are weighted by their sums.

Source: Ghidorah (Wei et al. 2025), section III-B. Where the memory of both is one, rows do not cross on CUDA devices,
for there torch lets both see one memory (`SharedLink`); elsewhere they are copied and counted.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch

from engine.model.attention import SCORES_LIMIT_BYTES
from engine.model.config import ModelConfig
from engine.model.layer import LayerWeights, ModelWeights
from engine.model.linear import LinearMap
from engine.placement.column_linear import ColumnLinear
from engine.placement.column_shares import (
    NO_COLUMNS,
    NO_ROWS,
    Boundary,
    Exchange,
    Ratios,
    balanced_boundary,
    balanced_ratios,
    bytes_there,
    exchanges,
    head_matrix,
    matrices,
)
from engine.placement.divided_rows import DividedRows
from engine.placement.footprint import Footprint, Sizes, device_format
from engine.placement.link import Link, SharedLink
from engine.placement.placement import Placement
from engine.placement.plan import LayerPlace, PlacementPlan, Room, Units
from engine.placement.resident import Resident
from engine.placement.source import Placed, TargetSource
from engine.sentences import figure, say

# Distances from the best shares that are tried if memory is short.
_STEPS = 128
# Rows of the forwards that the matrices may be divided for.
_WIDTHS = (1, 2, 4, 8, 16, 32, 64)
_LOGIT_ROWS = 65


@dataclass(frozen=True)
class ColumnsPlan(PlacementPlan):
    """A share of each matrix in the GPU's memory, the rest in the host's.

    Attributes:
        ratios: The shares that were asked for.
        boundary: Of attention.
        shared: Rows do not cross: both see them in one memory.
        exchanges: Of a layer's matrices, those of the first layer, then of the head.
        queries: Of attention, in bytes: a row of queries, and what comes back for it.
        committed_bytes: Keys and values of a row in a layer.
    """

    ratios: Ratios = NO_COLUMNS
    boundary: Boundary = NO_ROWS
    shared: bool = False
    exchanges: tuple[Exchange, ...] = ()
    queries: tuple[int, int] = (0, 0)
    committed_bytes: int = 0

    name = "columns"
    fuses_layers = False

    @classmethod
    def suited(cls, sizes: Sizes) -> Sizes:
        """With keys and values of 16 bits: only the kernel library reads rows of 8."""
        eight_bits = sizes.weights.cache == torch.int8
        return replace(sizes, weights=replace(sizes.weights, cache=torch.bfloat16)) if eight_bits else sizes

    @classmethod
    def fit(cls, sizes: Sizes, room: Room, most: int) -> ColumnsPlan | None:
        """The shares with which both units take equally long, or the nearest that fit; attention's last."""
        config = sizes.config
        undivided = config.mixture is not None or bool(config.convolutions or config.shapes or config.latent)
        if not room.device or not most or room.units is None or undivided:
            return None  # experts, convolutions and latents are not, nor layers of which some read another's keys
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
        """Divided for each width: in wide forwards the processor multiplies for longer than it reads."""
        for width in _WIDTHS:
            found = cls.fit(sizes, replace(room, width=width), most)
            if found is not None:
                yield found

    @classmethod
    def of(
        cls, sizes: Sizes, ratios: Ratios, boundary: Boundary = NO_ROWS, shared: bool = False
    ) -> ColumnsPlan:
        """With these shares."""
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
        """Hidden rows are the host's, and it keeps all keys and values."""
        return False

    @property
    def uses_gpu(self) -> bool:
        """True if something computes on the GPU."""
        return bool(self.boundary.share) or any(one.there for one in self.exchanges)

    @property
    def key(self) -> str:
        """Key under which measured forwards are kept."""
        shares = " ".join(f"{ratio:.3f}" for ratio in (*vars(self.ratios).values(), self.boundary.share))
        return f"{self.name} {shares}"

    def host(self, sizes: Sizes, draft_bytes: int = 0, baseline_bytes: int = 0) -> Footprint:
        """Footprint in the host's memory, where the head is whole: a GPU that fails takes nothing with it."""
        footprint = super().host(sizes, draft_bytes, baseline_bytes)
        return replace(footprint, activations=footprint.activations + self._score_bytes(sizes))

    def device(self, sizes: Sizes, draft_bytes: int = 0) -> Footprint:
        """Footprint in the GPU's memory: its columns, and a copy of its rows of the cache."""
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
        """Seconds that layers and head compute: those of the slower unit in each part, or of the memory of both."""
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
        # Of each token that is committed the GPU gets its keys and values once.
        committed = self.boundary.share * self.committed_bytes
        seconds += both(there, [unit.attention for unit in three], sum(self.queries), committed)
        last = both(head.there, [unit.head for unit in three], head.in_bytes + head.out_bytes)
        return len(self.layers) * seconds + last

    def load(self, source: TargetSource) -> Placed:
        """Read one layer after the other and give the GPU its columns."""
        host, link = source.host(()), source.link
        rows_link = SharedLink(link.device) if self.shared else link
        columns = Columns(
            host,
            source.config,
            source.layer,
            self.ratios,
            self.boundary,
            source.device_type,
            link,
            rows_link,
        )

        def at_home() -> Placement:
            return Resident(replace(host, layers=tuple(map(source.layer, range(source.config.layers)))))

        return Placed(columns, host.parameters, f"{link.device} + cpu", host.notes, at_home)

    def summary(self) -> str:
        """Say where the weights are."""
        share = sum(place.device for place in self.layers) / len(self.layers)
        return say(
            "{share} % of each layer's columns on the GPU, the others in memory",
            share=figure(100 * share, ".0f"),
        )

    def as_json(self) -> dict[str, Any]:
        """Plain types."""
        return super().as_json() | {"ratios": vars(self.ratios), "attention": vars(self.boundary)}

    def _score_bytes(self, sizes: Sizes) -> int:
        """Scores of attention, which are explicit where it is divided."""
        scores = 4 * sizes.config.heads * min(512, sizes.context) * sizes.context
        return 2 * min(SCORES_LIMIT_BYTES, scores) if self.boundary.share else 0


def _nearest(
    made: Callable[[Ratios], ColumnsPlan], ways: Sequence[Ratios], sizes: Sizes, room: Room
) -> ColumnsPlan:
    """The plan in the middle, or the next one with which neither memory holds too much, where there is one.

    Args:
        made: Makes a plan of shares.
        ways: From none on the GPU to the most.
        sizes: Of the model.
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
        config: Of the model.
        read: Reads a layer into the host's memory, by its index.
        ratios: The device's shares.
        boundary: Of attention.
        dtype: Of the device's activations, keys and values.
        link: The way for weights.
        rows_link: The way for rows.

    Attributes:
        ratios: The device's shares now.
        boundary: Of attention; another one counts from the next forward on.
    """

    def __init__(
        self,
        host: ModelWeights,
        config: ModelConfig,
        read: Callable[[int], LayerWeights],
        ratios: Ratios,
        boundary: Boundary,
        dtype: torch.dtype,
        link: Link,
        rows_link: Link,
    ) -> None:
        self.ratios = ratios
        self.boundary = boundary
        self._config = config
        self._read = read
        self._dtype = dtype
        self._link = link
        self._rows_link = rows_link
        self._whole_head = host.head
        head = self._column_linear(host.head, ratios.head, keep_whole=True)
        divided = tuple(self._divide(read(index), ratios) for index in range(config.layers))
        super().__init__(replace(host, layers=divided, head=head))

    def change(self, ratios: Ratios) -> None:
        """Divide the matrices anew, between two forwards: layers are read again, one after the other.

        Raises:
            TenonError: the checkpoint cannot be read any more. Every layer is whole all the same.
        """
        if ratios.head != self.ratios.head:
            self.head = self._column_linear(self.whole_head, ratios.head, keep_whole=True)
            self._weights = replace(self._held(), head=self.head)
        if replace(ratios, head=self.ratios.head) != self.ratios:
            for index in range(self._config.layers):
                layers = list(self._held().layers)
                layers[index] = self._divide(self._read(index), ratios)
                self._weights = replace(self._held(), layers=tuple(layers))
        self.ratios = ratios

    @property
    def whole_head(self) -> LinearMap:
        """The head as the host has it."""
        return self._whole_head

    @property
    def resident_layers(self) -> tuple[LayerWeights, ...]:
        """None that a forward may take as they are."""
        return ()

    def new_far_rows(self, capacity_tokens: int) -> DividedRows | None:
        """The device's rows of a new cache, none of them there yet."""
        if not self.boundary.share:
            return None
        return DividedRows(
            self._config,
            capacity_tokens,
            lambda length: self.boundary.rows(length),
            self._dtype,
            self._rows_link,
        )

    @property
    def bytes_by_device(self) -> dict[str, int]:
        """Bytes of weights held, by device."""
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
