"""A draft on a graphics chip: one submission a forward of few rows, and the likeliest tokens come back."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from engine.graphics import shaders
from engine.graphics.adapters import Chip, in_turn
from engine.graphics.layers import ChipLayers, ChipRows, runs_layers
from engine.kernels.library import Packed
from engine.kernels.sampling import Ranked
from engine.model.config import ModelConfig
from engine.model.kv_cache import KVCache
from engine.model.layer import EnteringRows
from engine.model.linear import Norm, PackedLinear
from engine.model.packed_loader import PackedReader, embedding_rows, final_norm_of, packed_inputs, packed_layer
from engine.model.tensors import check_tensors, head_slot, input_slots, layer_slots, outer_slots
from engine.model.weight_format import WeightFormat
from engine.weights.checkpoint import Checkpoint

MOST_LIKELY = 32
"""Tokens that come back of a row."""
# Rows whose logits are in memory.
_MOST_LOGITS = 64


def can_run(config: ModelConfig, weights: WeightFormat) -> bool:
    """Return whether the shaders compute a model."""
    head = head_slot(config)
    return runs_layers(config, weights) and weights.kind_of(head) in shaders.TYPES and head.shape[1] % 4 == 0


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
        reader = PackedReader(checkpoint, weights, arranged=False)
        each = (layer_slots(config, layer) for layer in range(config.layers))
        read = (packed_layer(config, slots, reader.read(slots, check=check)) for slots in each)
        self._layers = layers = ChipLayers(chip, config, read, config.layers)
        self._embedding = embedding_rows(checkpoint, config)
        self._embedding_norm = None
        if config.family.normed_embedding:
            self._embedding_norm = Norm(torch.ones(config.hidden_size), config.norm_epsilon)
        own_inputs = PackedReader(checkpoint, weights).read(input_slots(config), check=check)
        self._inputs = packed_inputs(checkpoint, config, own_inputs)
        parts = reader.read([outer_slots(config)[1], head_slot(config)], check=check)
        self._last = layers.norm(final_norm_of(config, parts))
        # Rows whose logits are computed at a time
        self._most_logits = max(1, min(_MOST_LOGITS, chip.adapter.largest_bytes // (4 * config.vocabulary_size)))
        layers.rows["logits"] = chip.buffer(4 * self._most_logits * config.vocabulary_size)
        layers.rows["ranks"] = chip.buffer(8 * MOST_LIKELY * _MOST_LOGITS)
        matrix = parts[head_slot(config).name]
        assert isinstance(matrix, Packed)
        self._head = layers.matrix(PackedLinear(matrix), "normed", "logits", head=True)
        size = min(vocabulary_size, config.vocabulary_size)
        self._rank = chip.program(shaders.ranking(config.vocabulary_size, size, MOST_LIKELY, config.logit_soft_cap))
        self._ranked = layers.bind(self._rank, "logits", "ranks")

    def new_cache(self, capacity_tokens: int, to_device: object = None) -> KVCache:
        """Return an empty cache of so many rows, drafts included."""
        limit = next((rope.original_context for rope in self.config.ropes if rope.long_frequencies), None)
        cpu, rows = torch.device("cpu"), self._layers.new_rows()
        return KVCache((), capacity_tokens, torch.float32, cpu, limit, beside=rows)

    @in_turn()
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
            cache: A cache from `new_cache`.
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
        config, layers, rows = self.config, self._layers, cache.beside
        assert isinstance(rows, ChipRows)
        count, asked = len(tokens), range(len(tokens))[logit_rows or slice(None)]
        places = cache.place(positions, uncommitted, mask is None)
        hidden = self._embedding(tokens).float()
        if self._embedding_norm is not None:
            hidden = self._embedding_norm(hidden)
        if config.embedding_scale is not None:
            hidden = hidden * config.embedding_scale
        inputs = None if self._inputs is None else self._inputs(tokens.tolist(), hidden)
        settle = layers.place(EnteringRows(hidden, inputs, places, cache, mask, uncommitted))
        found: list[Tensor] = []
        steps = [*layers.steps(rows, count), (*self._last, count, 1)]
        for first in range(0, max(1, len(asked)), self._most_logits):
            wanted = min(self._most_logits, len(asked) - first)
            settle(asked.start + first, wanted)
            if wanted:
                steps += [*self._head.steps(wanted), (self._rank, self._ranked, wanted, 1)]
            # Waited for even if nothing comes back, so that reading takes the time that it takes.
            back = layers.run(steps, count, (layers.rows["ranks"], 8 * MOST_LIKELY * max(wanted, 1)))
            found.append(back[: 2 * MOST_LIKELY * wanted].view(-1, MOST_LIKELY, 2))
            steps = []
        ranks = torch.cat(found)
        return Ranked(ranks[..., 0].tolist(), ranks[..., 1].contiguous().view(torch.float32).tolist())
