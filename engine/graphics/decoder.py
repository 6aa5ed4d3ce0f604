"""A dense decoder on a graphics chip: one submission a forward of few rows, and the likeliest tokens come back.

Activations, keys and values are float32. What is rotated, and which rows see which, is settled on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from engine.graphics import shaders
from engine.graphics.adapters import Bound, Buffer, Chip, Program, Step
from engine.graphics.matrix import ChipMatrix
from engine.kernels.library import Packed
from engine.kernels.sampling import Ranked
from engine.model.config import ModelConfig
from engine.model.footprint import layer_elements
from engine.model.kv_cache import KVCache
from engine.model.layer import LayerWeights
from engine.model.linear import JoinedLinear, LinearMap, Norm, PackedLinear
from engine.model.packed_loader import PackedReader, embedding_rows, final_norm_of, packed_layer
from engine.model.rope import RopeTable
from engine.model.tensors import Slot, check_tensors, head_slot, layer_slots, outer_slots
from engine.model.weight_format import WeightFormat
from engine.weights.checkpoint import Checkpoint

MOST_ROWS = 256
"""Rows of a forward."""
MOST_LIKELY = 32
"""Tokens that come back of a row."""

# Parts of a layer that the shaders compute.
_PARTS = {
    *("attention_norm", "qkv", "qkv_bias", "query_norm", "key_norm", "output", "output_bias"),
    *("mlp_norm", "gate_up", "gate_up_bias", "down", "down_bias"),
}
# Products of a submission: drivers end one that takes some seconds, and a slow chip makes 50 billion in one.
_MOST_PRODUCTS = 10 * 10**9
# Uncommitted rows that a row may see, and rows whose logits are in memory.
_MOST_UNCOMMITTED, _MOST_LOGITS = 2048, 64


def can_run(config: ModelConfig, weights: WeightFormat) -> bool:
    """Return whether the shaders compute a model: Llama's layers, with or without biases and norms of heads."""
    slots = [slot for layer in range(config.layers) for slot in layer_slots(config, layer)]
    matrices = [slot for slot in (*slots, head_slot(config)) if len(slot.shape) == 2]
    alone = (config.mixture, config.latent, config.attention_soft_cap, config.logit_soft_cap, config.query_scale)
    return (
        all(one is None for one in alone)
        and {slot.field for slot in slots} <= _PARTS
        and config.activation == "silu"
        and config.family.gated_network
        and not (config.family.output_gate or config.family.normed_embedding or config.shapes or config.networks)
        and config.residual_scale == 1.0
        and set(config.windows) == {None}
        and set(config.layer_ropes) == {0}
        and not config.ropes[0].query_beta
        and weights.packed
        and all(weights.kind_of(slot) in shaders.TYPES and slot.shape[1] % 4 == 0 for slot in matrices)
    )


class ChipCache(KVCache):
    """A text's rows in a chip's memory, in a buffer for each layer.

    Args:
        decoder: Decoder of the text.
        capacity: Most rows.
    """

    def __init__(self, decoder: ChipDecoder, capacity: int) -> None:
        rope = decoder.config.ropes[0]
        limit = None if rope.long_frequencies is None else rope.original_context
        super().__init__((), capacity, torch.float32, torch.device("cpu"), limit)
        self._decoder = decoder
        self.buffers: list[Buffer] = []
        self._take(0)

    def _take(self, kept: int) -> None:
        """Take memory for as many rows as there are to be, and keep the first ones."""
        decoder, chip = self._decoder, self._decoder.chip
        row_bytes = 4 * decoder.heads.cache_stride
        before, self.buffers = self.buffers, []
        for layer in range(decoder.config.layers):
            self.buffers.append(chip.buffer(self._rows * row_bytes))
            if kept:
                chip.copy(before[layer], self.buffers[layer], kept * row_bytes)
        self.bound = [decoder.bind_cache(layer, buffer) for layer, buffer in enumerate(self.buffers)]

    def _reserve(self, uncommitted: int, count: int) -> None:
        rows = self._rows
        super()._reserve(uncommitted, count)
        if self._rows != rows:
            self._take(self.length + uncommitted)

    def release(self) -> None:
        """Forget all rows, and give back their memory."""
        super().release()
        self.buffers = []
        self._take(0)

    def _move(self, rows: Sequence[int]) -> None:
        """Move uncommitted rows, which rise: what is kept was drafted after the path that it follows."""
        self._decoder.move(self, rows)


class ChipDecoder:
    """A model whose layers and head are on a chip, and whose embedding stays in its file.

    Args:
        chip: The chip.
        checkpoint: The model.
        config: Config of this checkpoint, which `can_run` allows.
        weights: Format of the matrices.
        vocabulary_size: First tokens of the vocabulary that are ranked.
        check: Called often while it is read; raises to cancel.

    Raises:
        RuntimeError: The chip has no room, or fails.
        CheckpointError: The checkpoint is damaged.
    """

    def __init__(
        self,
        chip: Chip,
        checkpoint: Checkpoint,
        config: ModelConfig,
        weights: WeightFormat,
        vocabulary_size: int,
        check: Callable[[], None],
    ) -> None:
        check_tensors(checkpoint, config)
        self.chip, self.config = chip, config
        self._elements = config.layers * layer_elements(config)
        self._rope = RopeTable(config.ropes[0], torch.float32, torch.device("cpu"))
        width = config.head_dim
        normed = width * config.norm_epsilon if config.family.query_key_norm else None
        self.heads = shaders.Heads(
            config.heads, config.kv_heads, width, self._rope.size, config.attention_scale, normed
        )
        hidden, inner = config.hidden_size, config.intermediate_size
        sizes = {
            "x": hidden,
            "normed": hidden,
            "qkv": self.heads.stride,
            "mixed": config.heads * width,
            "gate_up": 2 * inner,
            "inner": inner,
            "turns": 2 * self._rope.size,
            "step": shaders.STEP_WORDS + _MOST_UNCOMMITTED // 32,
        }
        self._rows = {name: chip.buffer(4 * MOST_ROWS * size) for name, size in sizes.items()}
        self._rows["ranks"] = chip.buffer(8 * MOST_LIKELY * _MOST_LOGITS)
        self._norm = chip.program(shaders.norm(hidden, hidden * config.norm_epsilon))
        self._turn = chip.program(shaders.rotation(self.heads))
        self._attend = chip.program(shaders.attention(self.heads))
        self._gate = chip.program(shaders.gate(inner))
        self._moving = chip.program(shaders.moving(self.heads.cache_stride))
        self._gated = self.bind(self._gate, "gate_up", "inner")
        reader = PackedReader(checkpoint, weights, arranged=False)

        def read(slots: Sequence[Slot]) -> LayerWeights:
            return packed_layer(config, slots, reader.read(slots, check=check))

        self._layers = [_Layer(self, read(layer_slots(config, layer))) for layer in range(config.layers)]
        self._embedding = embedding_rows(checkpoint, config)
        outer = [outer_slots(config)[1], head_slot(config)]
        parts = reader.read(outer, check=check)
        self._last = self.norm(final_norm_of(config, parts))
        # Rows whose logits are computed at a time
        self._most_logits = max(1, min(_MOST_LOGITS, chip.adapter.largest_bytes // (4 * config.vocabulary_size)))
        self._rows["logits"] = chip.buffer(4 * self._most_logits * config.vocabulary_size)
        matrix = parts[head_slot(config).name]
        assert isinstance(matrix, Packed)
        self._head = self.matrix(PackedLinear(matrix), "normed", "logits", head=True)
        size = min(vocabulary_size, config.vocabulary_size)
        self._rank = chip.program(shaders.ranking(config.vocabulary_size, size, MOST_LIKELY))
        self._ranked = self.bind(self._rank, "logits", "ranks")

    def bind(self, program: Program, *given: str | Buffer) -> Bound:
        """Return the buffers of a shader, those for rows by their names."""
        return self.chip.bound(program, *(self._rows[one] if isinstance(one, str) else one for one in given))

    def matrix(self, linear: LinearMap | None, x: str, y: str, adds: bool = False, head: bool = False) -> ChipMatrix:
        """Bring a map to the chip, from some rows to others; see `ChipMatrix`."""
        assert linear is not None, "which `can_run` sees to"
        parts = linear.parts if isinstance(linear, JoinedLinear) else (linear,)
        packed = [part for part in parts if isinstance(part, PackedLinear)]
        rows = self._rows
        return ChipMatrix(self.chip, packed, rows[x], rows[y], rows["step"], adds, head)

    def norm(self, norm: Norm | None) -> tuple[Program, Bound]:
        """Bring a norm of the residual stream to the chip."""
        assert norm is not None, "which `can_run` sees to"
        return self._norm, self.bind(self._norm, "x", self.chip.buffer(norm.gain), "normed")

    def new_cache(self, capacity_tokens: int, to_device: object = None) -> ChipCache:
        """Return an empty cache of so many rows, drafts included."""
        return ChipCache(self, capacity_tokens)

    def bind_cache(self, layer: int, buffer: Buffer) -> tuple[Bound, Bound]:
        """Return the buffers of a layer's rotation and of its attention, with a cache's."""
        gains = self._layers[layer].gains
        return (
            self.bind(self._turn, "qkv", buffer, "turns", gains, "step"),
            self.bind(self._attend, "qkv", buffer, "mixed", "step"),
        )

    def move(self, cache: ChipCache, rows: Sequence[int]) -> None:
        """Move uncommitted rows of a cache to the front."""
        self._write("step", torch.tensor([len(rows), cache.length, 0, 0, 0, 0, *rows], dtype=torch.int32))
        groups = -(-self.heads.cache_stride // 64)
        bound = (self.bind(self._moving, buffer, "step") for buffer in cache.buffers)
        self.chip.run([(self._moving, one, groups, 1) for one in bound])

    def forward(
        self,
        tokens: Tensor,
        positions: Tensor,
        cache: KVCache,
        mask: Tensor | None = None,
        logit_rows: slice | None = None,
        check: Callable[[], None] = lambda: None,
        uncommitted: int = 0,
    ) -> Ranked:
        """Run new rows after a cache's committed ones, as `engine.model.decoder.Decoder.forward` does.

        Args:
            tokens: (n,) int64.
            positions: (n,) int64.
            cache: A `ChipCache`.
            mask: (n, uncommitted + n) bool, or None for a chain.
            logit_rows: Rows to rank the next tokens of; None for all.
            check: Called before; raises to cancel.
            uncommitted: Uncommitted rows of earlier forwards that stay.

        Returns:
            `MOST_LIKELY` tokens of each row that is asked for.

        Raises:
            RuntimeError: The chip was lost, or has no room.
            ValueError: There are more rows than `MOST_ROWS`, or than the cache holds.
        """
        check()
        assert isinstance(cache, ChipCache)
        count, asked = len(tokens), range(len(tokens))[logit_rows or slice(None)]
        if count > MOST_ROWS or uncommitted + count > _MOST_UNCOMMITTED:
            raise ValueError(f"{count} rows and {uncommitted} before them are too many for one forward")
        cache.place(positions, uncommitted, mask is None)
        hidden = self._embedding(tokens).float()
        self._write("x", hidden if self.config.embedding_scale is None else hidden * self.config.embedding_scale)
        self._rope.reserve(int(positions.max()) + 1)
        cosine, sine, _ = self._rope.rows(positions, cache.long_text)
        self._write("turns", torch.cat((cosine, sine), -1))
        if mask is None:
            mask = torch.ones(count, uncommitted + count, dtype=torch.bool).tril(uncommitted)
        bits = np.packbits(functional.pad(mask, (0, -mask.shape[1] % 32)).numpy(), axis=1, bitorder="little")
        sees = torch.from_numpy(bits.view(np.int32))
        found: list[Tensor] = []
        steps = list(self._layer_steps(cache, count))
        piece = max(1, int(_MOST_PRODUCTS / (count * self._elements) * len(steps)))
        for first in range(0, max(1, len(asked)), self._most_logits):
            wanted = min(self._most_logits, len(asked) - first)
            facts = (count, cache.length, uncommitted, asked.start + first, wanted, sees.shape[1])
            self._write("step", torch.cat((torch.tensor(facts, dtype=torch.int32), sees.flatten())))
            if wanted:
                steps += [*self._head.steps(wanted), (self._rank, self._ranked, wanted, 1)]
            while len(steps) > piece:
                self.chip.run(steps[:piece])
                del steps[:piece]
            # Waited for even if nothing comes back, so that reading takes the time that it takes.
            back = self.chip.run(steps, (self._rows["ranks"], 8 * MOST_LIKELY * max(wanted, 1)))
            found.append(back[: 2 * MOST_LIKELY * wanted].view(-1, MOST_LIKELY, 2))
            steps = []
        ranks = torch.cat(found)
        return Ranked(ranks[..., 0].tolist(), ranks[..., 1].contiguous().view(torch.float32).tolist())

    def _write(self, name: str, content: Tensor) -> None:
        self.chip.write(self._rows[name], content)

    def _layer_steps(self, cache: ChipCache, count: int) -> Iterator[Step]:
        heads, inner = self.heads, self.config.intermediate_size
        for layer, (rotation, attention) in zip(self._layers, cache.bound, strict=True):
            yield *layer.attention_norm, count, 1
            yield from layer.qkv.steps(count)
            yield self._turn, rotation, count, heads.heads + 2 * heads.kv_heads
            yield self._attend, attention, count, heads.heads
            yield from layer.output.steps(count)
            yield *layer.mlp_norm, count, 1
            yield from layer.gate_up.steps(count)
            yield self._gate, self._gated, -(-inner // 64), count
            yield from layer.down.steps(count)
        yield *self._last, count, 1


class _Layer:
    """A layer on the chip."""

    def __init__(self, decoder: ChipDecoder, weights: LayerWeights) -> None:
        self.attention_norm, self.mlp_norm = decoder.norm(weights.attention_norm), decoder.norm(weights.mlp_norm)
        self.qkv = decoder.matrix(weights.qkv, "normed", "qkv")
        self.output = decoder.matrix(weights.output, "mixed", "x", adds=True)
        self.gate_up = decoder.matrix(weights.gate_up, "normed", "gate_up")
        self.down = decoder.matrix(weights.down, "inner", "x", adds=True)
        norms = [norm.gain for norm in (weights.query_norm, weights.key_norm) if norm is not None]
        self.gains = decoder.chip.buffer(torch.cat(norms) if norms else 4)
