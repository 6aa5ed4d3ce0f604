"""The forward pass: tokens in, logits out, keys and values into the cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional

from engine.model.attention import step_mask
from engine.model.block import Rotation, block
from engine.model.config import ModelConfig
from engine.model.kv_cache import KVCache
from engine.model.layer import WeightSource
from engine.model.rope import RopeTable


@dataclass(frozen=True)
class Output:
    """What a forward gives.

    Attributes:
        logits: (rows asked for, V) float32.
        hidden: (n, h), behind the final norm: what the head maps.
        layer_inputs: For each layer asked for, its input (n, h); the number of layers names the head's, ``hidden``.
    """

    logits: Tensor
    hidden: Tensor
    layer_inputs: dict[int, Tensor] = field(default_factory=dict)


class Decoder:
    """A decoder-only transformer over weights that a `WeightSource` supplies layer by layer.

    Args:
        config: Its sizes and variants.
        source: A placement.
    """

    def __init__(self, config: ModelConfig, source: WeightSource) -> None:
        self.config = config
        self.source = source
        self._ropes = [RopeTable(rope, source.dtype, source.device) for rope in config.ropes]
        self._windows = sorted(set(config.windows), key=lambda window: window or 0)
        scale = config.embedding_scale
        # Gemma rounds the factor to the weights' type.
        self._embedding_scale = None if scale is None else torch.tensor(scale, dtype=source.dtype).item()

    def new_cache(self, capacity_tokens: int) -> KVCache:
        """An empty cache for texts of up to this many tokens, rows of a draft included."""
        config = self.config
        return KVCache(
            config.layers,
            config.kv_heads,
            config.head_dim,
            capacity_tokens,
            self.source.cache_dtype,
            self.source.device,
            short_text_limit=next(
                (rope.original_context for rope in config.ropes if rope.long_frequencies), None
            ),
        )

    @torch.inference_mode()
    def forward(
        self,
        tokens: Tensor,
        positions: Tensor,
        cache: KVCache,
        mask: Tensor | None = None,
        logit_rows: Tensor | slice | None = None,
        check: Callable[[], None] | None = None,
        hidden_layers: tuple[int, ...] = (),
        behind: int = 0,
    ) -> Output:
        """Run new tokens behind the committed ones; the cache's length does not change.

        Each new token sees every committed row and the uncommitted rows that ``mask`` allows, both within the layer's
        sliding window by position. What it writes to the cache stays uncommitted until `KVCache.commit`, and
        the next forward overwrites all of it but the first ``behind`` rows.

        Args:
            tokens: (n,) int64.
            positions: (n,) int64; siblings of a tree share one. Committed row r is at position r.
            cache: From `new_cache`.
            mask: (n, behind + n) bool, True where new row i sees uncommitted row j, its own included; None for a
                chain that continues all of them.
            logit_rows: Rows to compute logits for; None for all, ``slice(-1, None)`` for the last,
                ``slice(0, 0)`` for none.
            check: Called before each layer; raises to cancel, which leaves the cache as it was.
            hidden_layers: Layers whose input is wanted too; the number of layers stands for the head.
            behind: Uncommitted rows of earlier forwards that the new rows build upon: a tree drafted level by level
                computes each node once.

        Raises:
            ValueError: The cache has no room for n rows, or holds fewer than ``behind`` uncommitted ones.
        """
        config, source = self.config, self.source
        tokens, positions = tokens.to(source.device), positions.to(source.device)
        if mask is not None:
            mask = mask.to(source.device)
        uncommitted = cache.place(positions, behind)
        masks = {
            window: step_mask(
                uncommitted, len(tokens), mask, cache.length, window, source.cache_dtype, config.group
            )
            for window in self._windows
        }
        rotations = self._rotations(positions, cache)
        hidden = functional.embedding(tokens, source.embedding).to(source.dtype)
        if self._embedding_scale is not None:
            hidden = hidden * self._embedding_scale
        inputs: dict[int, Tensor] = {}
        for index, (window, rope) in enumerate(zip(config.windows, config.layer_ropes, strict=True)):
            if check is not None:
                check()
            if index in hidden_layers:
                inputs[index] = hidden
            rotation = None if rope is None else rotations[rope]
            hidden = block(config, source.layer(index), index, hidden, rotation, masks[window], cache)
        hidden = source.final_norm(hidden)
        if config.layers in hidden_layers:
            inputs[config.layers] = hidden
        wanted = hidden if logit_rows is None else hidden[logit_rows]
        logits = source.head(wanted).float()
        if config.logit_soft_cap is not None:
            logits = torch.tanh(logits / config.logit_soft_cap) * config.logit_soft_cap
        return Output(logits, hidden, inputs)

    def _rotations(self, positions: Tensor, cache: KVCache) -> list[Rotation]:
        last = int(positions.max())
        for table in self._ropes:
            table.reserve(last + 1)
        return [table.rows(positions, cache.long_text) for table in self._ropes]
