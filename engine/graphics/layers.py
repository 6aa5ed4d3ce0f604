"""Layers of a dense model on a graphics chip: their weights, the keys and values of texts, and the rows that pass them.

Activations, keys and values are float32. What is rotated, and which rows see which, is settled on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from engine.graphics import shaders
from engine.graphics.adapters import Bound, Buffer, Chip, Program, Step, in_turn, rest
from engine.graphics.matrix import ChipMatrix
from engine.model.config import ModelConfig
from engine.model.footprint import layer_elements
from engine.model.layer import EnteringRows, LayerWeights
from engine.model.linear import JoinedLinear, LinearMap, Norm, PackedLinear
from engine.model.rope import RopeTable
from engine.model.tensors import layer_slots
from engine.model.weight_format import WeightFormat

MOST_ROWS = 256
"""Rows of a forward."""

# Parts of a layer that the shaders compute.
_PARTS = {
    *("attention_norm", "qkv", "qkv_bias", "query_norm", "key_norm", "attention_gate", "output", "output_bias"),
    *("attention_end_norm", "mlp_norm", "gate_up", "gate_up_bias", "down", "down_bias", "mlp_end_norm"),
    *("input_gate", "input_projection", "input_norm", "scalar"),
}
# Products of a submission: drivers end one that takes some seconds, and a slow chip makes 50 billion in one.
_MOST_PRODUCTS = 10 * 10**9
# Rows of a prompt between which a cancel is seen.
_PIECE_ROWS = 128
# Uncommitted rows that a row may see.
_MOST_UNCOMMITTED = 2048


def runs_layers(config: ModelConfig, weights: WeightFormat) -> bool:
    """Return whether the shaders compute a model's layers: dense ones with attention, and networks with a gate."""
    slots = [slot for layer in range(config.layers) for slot in layer_slots(config, layer)]
    fields, family = {slot.field for slot in slots}, config.family
    return (
        weights.packed
        and fields <= _PARTS
        and ("scalar" not in fields or "mlp_end_norm" in fields)
        and config.activation in shaders.ACTIVATIONS
        and config.latent is None
        and family.gated_network
        and not (family.query_only or isinstance(family.output_gate, str))
        and all(
            weights.kind_of(slot) in shaders.TYPES and slot.shape[1] % 4 == 0 for slot in slots if len(slot.shape) == 2
        )
    )


class ChipRows:
    """A text's keys and values in a chip's memory: a buffer for each layer that has its own."""

    def __init__(self, layers: ChipLayers) -> None:
        self._layers = layers
        self._buffers: list[Buffer | None] = []
        self.bound: list[tuple[Bound, Bound]] = []  # buffers of each layer's rotation and attention

    @property
    def bytes(self) -> int:
        """Bytes that are taken now."""
        return sum(buffer.size for buffer in self._buffers if buffer is not None)

    @in_turn()
    def resize(self, rows: int, kept: int) -> None:
        """Take memory for so many rows, and keep the first ones."""
        layers, before, self._buffers = self._layers, self._buffers, []
        for index, heads in enumerate(layers.heads):
            buffer = layers.chip.buffer(4 * rows * heads.cache_stride) if heads.keys else None
            if buffer is not None and kept:
                layers.chip.copy(before[index], buffer, 4 * kept * heads.cache_stride)
            self._buffers.append(buffer)
        self.bound = [layers.bind_cache(index, self._buffers[owner]) for index, owner in enumerate(layers.owners)]

    @in_turn()
    def move(self, length: int, rows: Sequence[int]) -> None:
        """Move uncommitted rows to the front, which rise: what is kept was drafted after the path that it follows."""
        layers = self._layers
        layers.write("step", torch.tensor([len(rows), length, 0, 0, 0, 0, *rows], dtype=torch.int32))
        steps = []
        for heads, buffer in zip(layers.heads, self._buffers, strict=True):
            if buffer is not None:
                program = layers.chip.program(shaders.moving(heads.cache_stride))
                steps.append((program, layers.bind(program, buffer, "step"), -(-heads.cache_stride // 64), 1))
        layers.chip.run(steps)


class ChipLayers:
    """The first layers of a model on a chip, or all of them.

    Args:
        chip: The chip.
        config: Config of the model, which `runs_layers` allows.
        layers: Weights of these layers, their matrices as a file has them; each is let go of once it is there.
        count: Number of them.

    Raises:
        RuntimeError: The chip has no room, or fails.
    """

    def __init__(self, chip: Chip, config: ModelConfig, layers: Iterable[LayerWeights], count: int) -> None:
        self.chip, self.config, self.count = chip, config, count
        shapes = [config.of_layer(index) for index in range(count)]
        self._ropes = [RopeTable(rope, torch.float32, torch.device("cpu")) for rope in config.ropes]
        # The layer whose keys and values each one reads
        self.owners = [index if own.keys_of is None else own.keys_of for index, own in enumerate(shapes)]
        self.heads: list[shaders.Heads] = []  # sizes of each layer's attention
        self._elements = count * layer_elements(config)
        hidden, inner = config.hidden_size, max(one.intermediate_size for one in shapes)
        queries = max(one.query_size for one in shapes)
        sizes = {
            "x": hidden,
            "normed": hidden,
            "mapped": hidden,
            "qkv": max(one.query_size + 2 * one.kv_size for one in shapes),
            "mixed": queries,
            "gates": max(queries if config.family.output_gate else 1, config.input_width),
            "gate_up": 2 * inner,
            "inner": max(inner, queries if config.family.output_gate else 1),
            "inputs": config.layers * config.input_width,
            **{f"turns {rope}": 2 * table.size + 1 for rope, table in enumerate(self._ropes)},
            "step": shaders.STEP_WORDS + _MOST_UNCOMMITTED // 16,
        }
        held_bytes = chip.held_bytes
        self.rows = {name: chip.buffer(4 * MOST_ROWS * size) for name, size in sizes.items()}
        self._layers: list[_Layer] = []
        for index, weights in enumerate(layers):
            self._layers.append(_Layer(self, index, shapes[index], weights))
        self.size_bytes = chip.held_bytes - held_bytes  # bytes in the chip's memory

    def bind(self, program: Program, *given: str | Buffer) -> Bound:
        """Return the buffers of a shader, those for rows by their names."""
        return self.chip.bound(program, *(self.rows[one] if isinstance(one, str) else one for one in given))

    def write(self, name: str, content: Tensor) -> None:
        """Write rows, or the words of a forward, by name."""
        self.chip.write(self.rows[name], content)

    def matrix(self, linear: LinearMap | None, x: str, y: str, adds: float = 0.0, head: bool = False) -> ChipMatrix:
        """Bring a map to the chip, from some rows to others; see `ChipMatrix`."""
        assert linear is not None, "which `runs_layers` sees to"
        parts = linear.parts if isinstance(linear, JoinedLinear) else (linear,)
        packed = [part for part in parts if isinstance(part, PackedLinear)]
        rows = self.rows
        return ChipMatrix(self.chip, packed, rows[x], rows[y], rows["step"], adds, head)

    def norm(
        self, norm: Norm | None, x: str = "x", y: str = "normed", then: Tensor | None = None
    ) -> tuple[Program, Bound]:
        """Bring a norm of rows to the chip; with ``then`` results are added, and the sums multiplied by this factor."""
        assert norm is not None, "which `runs_layers` sees to"
        adds = then is not None
        program = self.chip.program(shaders.norm(self.config.hidden_size, norm.floor, adds))
        gain = norm.gain if then is None else torch.cat((norm.gain * self.config.residual_scale, then))
        return program, self.bind(program, x, self.chip.buffer(gain), y)

    def bind_cache(self, layer: int, buffer: Buffer) -> tuple[Bound, Bound]:
        """Return the buffers of a layer's rotation and of its attention, with a cache's."""
        own = self._layers[layer]
        turns = f"turns {self.config.layer_ropes[layer] or 0}"
        return (
            self.bind(own.turn, "qkv", buffer, turns, own.gains, "step"),
            self.bind(own.attend, "qkv", buffer, "mixed", "step"),
        )

    def place(self, rows: EnteringRows) -> Callable[[int, int], None]:
        """Write new rows of a text with `ChipRows`, and what they are turned by and see.

        Returns:
            Function that writes the rest of what the forward is about: the first row whose logits are asked for, and
            their number.

        Raises:
            ValueError: There are more rows than `MOST_ROWS`, or too many before them.
        """
        count, uncommitted, mask = len(rows.hidden), rows.uncommitted, rows.mask
        if count > MOST_ROWS or uncommitted + count > _MOST_UNCOMMITTED:
            raise ValueError(f"{count} rows and {uncommitted} before them are too many for one forward")
        self.write("x", rows.hidden.float())
        if rows.inputs is not None:
            self.write("inputs", rows.inputs)
        for rope, table in enumerate(self._ropes):
            table.reserve(int(rows.positions.max()) + 1)
            cosine, sine, factors = table.rows(rows.positions[uncommitted:], rows.cache.long_text)
            ones = cosine.new_ones(count, 1, 1)
            turned = (cosine.expand(count, -1, -1), sine.expand(count, -1, -1), ones if factors is None else factors)
            self.write(f"turns {rope}", torch.cat(turned, -1))
        if mask is None:
            mask = torch.ones(count, uncommitted + count, dtype=torch.bool).tril(uncommitted)
        bits = np.packbits(functional.pad(mask, (0, -mask.shape[1] % 32)).numpy(), axis=1, bitorder="little")
        sees = torch.from_numpy(bits.view(np.int32))
        more = torch.cat((rows.positions.int(), sees.flatten()))

        def settle(first: int, asked: int) -> None:
            facts = (count, rows.cache.length, uncommitted, first, asked, sees.shape[1])
            self.write("step", torch.cat((torch.tensor(facts, dtype=torch.int32), more)))

        return settle

    def new_rows(self) -> ChipRows:
        """Return room for the keys and values of a text."""
        return ChipRows(self)

    @in_turn()
    def forward(self, rows: EnteringRows, stops: Sequence[int], check: Callable[[], None]) -> list[Tensor]:
        """Run new rows of a text; see `engine.model.layer.FirstLayers`."""
        cached = rows.cache.beside
        assert isinstance(cached, ChipRows)
        found: list[list[Tensor]] = [[] for _ in stops]
        for start in range(0, len(rows.hidden), _PIECE_ROWS):
            check()
            piece = rows.piece(start, _PIECE_ROWS)
            self.place(piece)(0, 0)
            count, done = len(piece.hidden), 0
            for stop, states in zip(stops, found, strict=True):
                steps = list(self.steps(cached, count, done, stop))
                back = self.run(steps, count, (self.rows["x"], piece.hidden.numel() * 4))
                states.append(back.view(torch.float32).view(piece.hidden.shape))
                done = stop
        results = list(map(torch.cat, found))
        if not results[-1].isfinite().all():
            rest(self.chip.adapter.device)
            raise RuntimeError("it gave numbers that are not finite")
        return results

    def steps(self, rows: ChipRows, count: int, first: int = 0, last: int | None = None) -> Iterator[Step]:
        """Yield the shaders of some layers for so many rows."""
        for layer, (turned, attended) in list(zip(self._layers, rows.bound, strict=True))[first:last]:
            yield from layer.steps(count, turned, attended)

    def run(self, steps: list[Step], count: int, result: tuple[Buffer, int]) -> Tensor:
        """Submit shaders of layers for so many rows, in pieces that no driver ends; see `Chip.run`."""
        piece = max(1, int(_MOST_PRODUCTS / (count * self._elements) * len(steps)))
        while len(steps) > piece:
            self.chip.run(steps[:piece])
            del steps[:piece]
        return self.chip.run(steps, result)


class _Layer:
    """A layer on the chip."""

    def __init__(self, layers: ChipLayers, index: int, config: ModelConfig, weights: LayerWeights) -> None:
        chip, bind, matrix, norm = layers.chip, layers.bind, layers.matrix, layers.norm
        rope, soft_cap, scale = config.layer_ropes[index], config.attention_soft_cap, config.residual_scale
        norms = [one for one in (weights.query_norm, weights.key_norm, weights.value_norm) if one is not None]
        self._heads = heads = shaders.Heads(
            config.heads,
            config.kv_heads,
            config.head_dim,
            0 if rope is None else 2 * len(config.ropes[rope].frequencies),
            config.attention_scale,
            norms[0].floor if norms else 0.0,
            len(norms),
            config.keys_of is None,
            not config.values_are_keys,
            config.windows[index],
            soft_cap,
        )
        layers.heads.append(heads)
        self.turn, self.attend = chip.program(shaders.rotation(heads)), chip.program(shaders.attention(heads))
        self.gains = chip.buffer(torch.cat([one.gain for one in norms]) if norms else 4)
        act, inner, size = config.activation, config.intermediate_size, config.query_size

        def gate(text: str, gates: str, x: str, y: str, wide: int) -> Callable[[int], Iterator[Step]]:
            program = chip.program(text)
            bound = bind(program, gates, x, y)
            return lambda count: iter([(program, bound, -(-wide // 64), count)])

        def normed(one: Norm | None, x: str = "x", y: str = "normed", then: Tensor | None = None) -> _Rows:
            program, bound = norm(one, x, y, then)
            return lambda count: iter([(program, bound, count, 1)])

        one = torch.ones(1)
        before: list[_Rows] = [normed(weights.attention_norm), matrix(weights.qkv, "normed", "qkv").steps]
        after: list[_Rows] = []
        mixed = "mixed"
        if weights.attention_gate is not None:
            before.append(matrix(weights.attention_gate, "normed", "gates").steps)
            after.append(gate(shaders.gate(size, "sigmoid", size, size, 0), "gates", mixed, "inner", size))
            mixed = "inner"
        self._before, self._after = before, after

        def added(linear: LinearMap | None, x: str, end: Norm | None, then: Tensor = one) -> None:
            if end is None:
                after.append(matrix(linear, x, "x", adds=scale).steps)
            else:
                after.extend((matrix(linear, x, "mapped").steps, normed(end, "mapped", "x", then)))

        last = one if weights.scalar is None else weights.scalar.float()
        added(weights.output, mixed, weights.attention_end_norm)
        after += [normed(weights.mlp_norm), matrix(weights.gate_up, "normed", "gate_up").steps]
        after.append(gate(shaders.gate(inner, act, 2 * inner, 2 * inner, inner), "gate_up", "gate_up", "inner", inner))
        entering = config.input_width
        added(weights.down, "inner", weights.mlp_end_norm, one if entering else last)
        if entering:
            after.append(matrix(weights.input_gate, "x", "gates").steps)
            text = shaders.gate(entering, act, entering, config.layers * entering, index * entering)
            after.append(gate(text, "gates", "inputs", "inner", entering))
            added(weights.input_projection, "inner", weights.input_norm, last)

    def steps(self, count: int, turned: Bound, attended: Bound) -> Iterator[Step]:
        """Yield its shaders for so many rows, with the buffers of a text."""
        heads = self._heads
        for part in self._before:
            yield from part(count)
        yield self.turn, turned, count, heads.heads + 2 * heads.kv_heads * heads.keys
        yield self.attend, attended, count, heads.heads
        for part in self._after:
            yield from part(count)


_Rows = Callable[[int], Iterator[Step]]
