"""The network of a feature draft: fusion, transformer blocks and a head, whatever layout its checkpoint has.

Source: EAGLE (Li et al. 2024) and Dovetail, sections III-B and III-C; EAGLE-3 (Li et al. 2025) differs in its fusion
and in having a head of its own. What a layout leaves out is None here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.drafting.fusion import Fusion
from engine.kernels.layer import stores
from engine.model.attention import step_mask
from engine.model.block import block
from engine.model.config import ModelConfig
from engine.model.embedding import Embedding
from engine.model.fused_layer import FusedLayer, FusedStep, fused_step, fused_text
from engine.model.fused_model import FusedModel
from engine.model.kv_cache import KVCache, SeenRows
from engine.model.layer import LayerWeights
from engine.model.linear import LinearMap, Norm
from engine.model.next_rows import MOST_ROWS, NextRows, NextText
from engine.model.rope import RopeTable


@dataclass(frozen=True)
class FeatureWeights:
    """A feature draft in memory. h = its hidden size, V and Vd = the target's and its own vocabulary size.

    Attributes:
        embedding: V rows of h, its own or the target's.
        fusion: The way in.
        layers: Its M blocks; the first has no norm before attention.
        final_norm: Between the last block and the head, or None. It is no part of the feature, but with norm_output.
        head: h -> Vd, its own or the target's.
        head_dtype: Type of the rows that the head maps; the blocks' own type where they share one.
        target_ids: (Vd,) the target's id of each of the draft's tokens, None where they are the same.
        logit_soft_cap: c in c * tanh(logit / c) where the head is that of a target that has one, or None.
        shared_bytes: Bytes of embedding and head that belong to the target.
        norm_output: The feature that is passed on is the output behind the final norm (EAGLE-3.1).
        mask_hidden: (1, k * target's h) in place of the target's rows that are not there yet (P-EAGLE), or None.
    """

    embedding: Embedding
    fusion: Fusion
    layers: tuple[LayerWeights, ...]
    final_norm: Norm | None
    head: LinearMap
    head_dtype: torch.dtype
    target_ids: Tensor | None = None
    logit_soft_cap: float | None = None
    shared_bytes: int = 0
    norm_output: bool = False
    mask_hidden: Tensor | None = None

    @property
    def size_bytes(self) -> int:
        """Bytes in memory beyond what the target holds anyway."""
        parts = [self.fusion.size_bytes, self.embedding.size_bytes, self.head.size_bytes]
        parts += [layer.size_bytes for layer in self.layers]
        if self.final_norm is not None:
            parts.append(self.final_norm.size_bytes)
        parts += [one.nbytes for one in (self.target_ids, self.mask_hidden) if one is not None]
        return sum(parts) - self.shared_bytes


class FeatureNetwork:
    """Runs a feature draft over rows: tokens and features in, features and guesses out.

    Args:
        config: Sizes of the blocks; ``layers`` of them.
        weights: Of the draft.
        hidden_layers: Whose input rows of the target `run` takes as ``target_features``, side by side.
        dtype: Type of the activations.
        cache_dtype: Type of keys and values.
    """

    def __init__(
        self,
        config: ModelConfig,
        weights: FeatureWeights,
        hidden_layers: tuple[int, ...],
        dtype: torch.dtype,
        cache_dtype: torch.dtype,
    ) -> None:
        self.config = config
        self.weights = weights
        self.hidden_layers = hidden_layers
        self.dtype = dtype
        self._cache_dtype = cache_dtype
        self.device = weights.embedding.device
        self._rope = RopeTable(config.ropes[0], dtype, self.device)
        self._fused = [FusedLayer.made_of(config, layer, cache_dtype) for layer in weights.layers]
        self._next_rows = self._made_next_rows()

    def new_cache(self, capacity: int) -> KVCache:
        """An empty cache for this many rows."""
        return KVCache(self.config.cache_shapes, capacity, self._cache_dtype, self.device)

    @torch.inference_mode()
    def run(
        self,
        tokens: Tensor,
        positions: Tensor,
        cache: KVCache,
        *,
        target_features: Tensor | None = None,
        features: Tensor | None = None,
        sees: Tensor | None = None,
        uncommitted: int = 0,
        check: Callable[[], None] = lambda: None,
    ) -> Tensor:
        """Run new rows behind the committed ones; the cache's length does not change. All tensors are on its device.

        Args:
            tokens: (n,) int64 ids of the target's vocabulary: the tokens *behind* the features.
            positions: (n,) int64, of the features; siblings of a tree share one.
            cache: From `new_cache`.
            target_features: (n, k * target's h) the target's hidden rows, or
            features: (n, h) the draft's own outputs in their place. One of both.
            sees: (n, uncommitted + n) bool, True where new row i sees uncommitted row j, its own included; None for a
                chain that continues all of them.
            uncommitted: Rows of earlier runs that the new ones build upon.
            check: Called before each block; raises to cancel.

        Returns:
            (n, h), the draft's guess of the feature of the next position.
        """
        weights = self.weights
        row_positions = cache.place(positions, uncommitted)
        self._rope.reserve(int(positions.max()) + 1)
        rotation = self._rope.rows(positions, False)
        count, group = len(tokens), self.config.group
        seen: dict[int | None, list[SeenRows]] = {}
        steps: dict[int | None, FusedStep] = {}
        if target_features is not None:
            features = weights.fusion.reduce(target_features.to(self.dtype))
        assert features is not None, "a feature draft needs features"
        embedding = weights.embedding(tokens).to(self.dtype)
        hidden, rows = weights.fusion(embedding, features)
        for index, layer in enumerate(weights.layers):
            check()
            fused, window = self._fused[index], self.config.windows[index]
            if fused is None or rows is not None:
                if window not in seen:
                    mask = step_mask(
                        row_positions, count, sees, cache.length, window, self._cache_dtype, group
                    )
                    seen[window] = [SeenRows(count, mask, cache)]
                hidden = block(self.config, layer, index, hidden, rotation, seen[window], rows)
                rows = None
                continue
            if window not in steps:
                text = fused_text(count, sees, cache.store(0), cache.length, uncommitted)
                steps[window] = fused_step([text], self._cache_dtype, window, rotation)
            fused(steps[window], stores([cache.addresses]), index, hidden)
        if weights.norm_output and weights.final_norm is not None:
            return weights.final_norm(hidden)
        return hidden

    def _made_next_rows(self) -> NextRows | None:
        """The short way of a few rows, where the library knows all that is on it."""
        weights, fused = self.weights, [layer for layer in self._fused if layer is not None]
        join = weights.fusion.join
        if join is None or len(fused) < len(self._fused) or weights.logit_soft_cap is not None:
            return None
        model = FusedModel.made_of(self.config, fused, weights.final_norm, weights.head, join)
        return None if model is None else NextRows(model, weights.embedding, [self._rope], None)

    @property
    def has_short_way(self) -> bool:
        """True if `run_next` has a short way; without one it always returns None."""
        return self._next_rows is not None

    def run_next(
        self, tokens: Sequence[int], cache: KVCache, features: Tensor, check: Callable[[], None]
    ) -> tuple[Tensor, Tensor] | None:
        """A few rows of a chain behind the committed ones; they are committed before others build upon them.

        Args:
            tokens: (n) ids of the target's vocabulary, behind the features.
            cache: From `new_cache`.
            features: (n, h) of the target, or the draft's own outputs in their place.
            check: Called between blocks where they take long; raises to cancel.

        Returns:
            (n, Vd) float32 logits of what follows each row, by the draft's own ids, and what `run` returns, both in
            memory that the next call overwrites; None where there is no shorter way than `run` and `logits`.
        """
        if self._next_rows is None or len(tokens) > MOST_ROWS:
            return None
        return self._next_rows([NextText(tokens, cache)], check, features)

    @torch.inference_mode()
    def logits(self, features: Tensor) -> Tensor:
        """(n, Vd) float32 logits of what follows each of (n, h) features, by the draft's own ids."""
        weights = self.weights
        if weights.final_norm is not None and not weights.norm_output:
            features = weights.final_norm(features)
        logits = weights.head(features.to(weights.head_dtype)).float()
        cap = weights.logit_soft_cap
        return logits if cap is None else torch.tanh(logits / cap) * cap

    def target_tokens(self, tokens: Tensor) -> Tensor:
        """The target's ids of the draft's, any shape."""
        ids = self.weights.target_ids
        return tokens if ids is None else ids[tokens]
