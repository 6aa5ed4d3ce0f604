"""The network of a feature draft: fusion, transformer blocks and a head, whatever layout its checkpoint has.

Source: EAGLE (Li et al. 2024) and Dovetail, sections III-B and III-C; EAGLE-3 (Li et al. 2025) differs in its fusion
and in having a head of its own. What a layout leaves out is None here.

A *feature* is a hidden state of the target, or the draft's own output in its place inside a tree. Row i of the draft
joins the feature of position i with the token at position i + 1, and guesses the feature of position i + 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

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


class Fusion(ABC):
    """The fusion of embedding and feature at the draft's input."""

    # The matrix that maps [embedding; feature] to the residual stream, or None if the fusion is more than that and
    # norms of the two
    join: LinearMap | None = None
    norms: tuple[Norm | None, Norm | None] = (None, None)  # norms of embedding and feature before that map

    def __init__(self, *parts: Norm | LinearMap | None) -> None:
        self._parts = parts

    @property
    def size_bytes(self) -> int:
        """Bytes of its weights."""
        return sum(part.size_bytes for part in self._parts if part is not None)

    def reduce(self, target_features: Tensor) -> Tensor:
        """Reduce hidden rows of the target, (n, k * target's h), to features of the draft's width, (n, h)."""
        return target_features

    @abstractmethod
    def __call__(self, embedding: Tensor, features: Tensor) -> tuple[Tensor, Tensor | None]:
        """Join (n, h) embeddings with (n, h) features.

        Returns:
            The residual stream (n, h) that enters the first block, and the input of that block's attention, (n,
            in), or None if that is the stream itself.
        """


class EagleFusion(Fusion):
    """One matrix over embedding and feature side by side: fc([embedding; feature]), EAGLE-1, EAGLE-2 and MTP.

    Args:
        fc: 2 h -> h.
        norm: Norm of the embedding (speculators' ``layernorms``, MTP), or None.
        feature_norm: Norm of the feature (MTP), or None.
    """

    def __init__(self, fc: LinearMap, norm: Norm | None = None, feature_norm: Norm | None = None) -> None:
        super().__init__(fc, norm, feature_norm)
        self.join = self._fc = fc
        self.norms = norm, feature_norm

    def __call__(self, embedding: Tensor, features: Tensor) -> tuple[Tensor, Tensor | None]:
        """Join by one linear map."""
        parts = zip(self.norms, (embedding, features), strict=True)
        return self._fc(torch.cat([part if norm is None else norm(part) for norm, part in parts], -1)), None


class DovetailFusion(Fusion):
    """Dynamic gated fusion: a gate z in (0, 1) weighs both for each channel. Dovetail, section III-B, figure 6.

    h1 = W_1 feature, h2 = SiLU(W_2 norm(embedding)), z = sigmoid(W_z [h1; h2]), out = z h1 + (1 - z) h2. The norm and
    the SiLU are those of the paper's own code.

    Args:
        norm: Norm of the embedding.
        feature_map: W_1, h -> h.
        token_map: W_2, h -> h.
        gate_map: W_z, 2 h -> h.
    """

    def __init__(self, norm: Norm, feature_map: LinearMap, token_map: LinearMap, gate_map: LinearMap) -> None:
        super().__init__(norm, feature_map, token_map, gate_map)
        self._norm, self._feature_map = norm, feature_map
        self._token_map, self._gate_map = token_map, gate_map

    def __call__(self, embedding: Tensor, features: Tensor) -> tuple[Tensor, Tensor | None]:
        """Join by a gate."""
        feature = self._feature_map(features)
        token = functional.silu(self._token_map(self._norm(embedding)))
        gate = torch.sigmoid(self._gate_map(torch.cat((feature, token), -1)))
        return torch.lerp(token, feature, gate), None


class Eagle3Fusion(Fusion):
    """EAGLE-3: the first block's attention maps [norm(embedding); norm(feature)], and the feature is the residual.

    Args:
        fc: Hidden rows of several of the target's layers side by side -> h.
        embedding_norm: ``input_layernorm``.
        feature_norm: ``hidden_norm``.
        target_norms: Norms of the rows before ``fc``: one over all (``norm_before_fc`` in the speculators' format),
            one for each layer's (EAGLE-3.1's ``fc_norm``), or none.
        norm_before_residual: True if the normalised feature enters the residual stream instead of the feature
            itself.
    """

    def __init__(
        self,
        fc: LinearMap,
        embedding_norm: Norm,
        feature_norm: Norm,
        target_norms: Sequence[Norm],
        norm_before_residual: bool,
    ) -> None:
        super().__init__(fc, embedding_norm, feature_norm, *target_norms)
        self._fc, self._target_norms = fc, target_norms
        self._embedding_norm, self._feature_norm = embedding_norm, feature_norm
        self._norm_before_residual = norm_before_residual

    def reduce(self, target_features: Tensor) -> Tensor:
        """Reduce several layers' rows to one feature. The draft's own output needs none of this."""
        if self._target_norms:
            parts = target_features.chunk(len(self._target_norms), -1)
            normed = [norm(part) for norm, part in zip(self._target_norms, parts, strict=True)]
            target_features = torch.cat(normed, -1)
        return self._fc(target_features)

    def __call__(self, embedding: Tensor, features: Tensor) -> tuple[Tensor, Tensor | None]:
        """Put embedding and feature side by side for attention."""
        normed = self._feature_norm(features)
        rows = torch.cat((self._embedding_norm(embedding), normed), -1)
        return (normed if self._norm_before_residual else features), rows


@dataclass(frozen=True, kw_only=True)
class Ends:
    """Embedding and head of a draft. h = its hidden size, V, Vd = the target's and its own vocabulary size."""

    embedding: Embedding  # V rows of h, its own or the target's
    head: LinearMap  # h -> Vd, its own or the target's
    head_dtype: torch.dtype  # type of the rows that the head maps; the blocks' own type where they share one
    # (Vd,) the target's id of each of the draft's tokens; None if they are the same
    target_ids: Tensor | None = None
    # c in c * tanh(logit / c) if the head is that of a target that has a cap, or None
    logit_soft_cap: float | None = None
    shared_bytes: int = 0  # bytes of embedding and head that belong to the target

    def logits(self, rows: Tensor) -> Tensor:
        """Map (n, h) rows to (n, Vd) float32 logits, by the draft's own ids."""
        logits = self.head(rows.to(self.head_dtype)).float()
        cap = self.logit_soft_cap
        return logits if cap is None else torch.tanh(logits / cap) * cap


@dataclass(frozen=True, kw_only=True)
class FeatureWeights(Ends):
    """Weights of a feature draft in memory."""

    fusion: Fusion  # fusion of embedding and feature
    layers: tuple[LayerWeights, ...]  # the M blocks; the first has no norm before attention
    # Norm between the last block and the head, or None. It is part of the feature only with norm_output
    final_norm: Norm | None
    # True if the feature that is passed on is the output after the final norm (EAGLE-3.1)
    norm_output: bool = False
    # (1, k * target's h) row in place of the target's rows that are not there yet (P-EAGLE), or None
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
        hidden_layers: Layers of the target whose input rows `run` takes as ``target_features``, side by side.
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
        """Return an empty cache for this many rows."""
        config = self.config
        return KVCache(config.cache_shapes, capacity, self._cache_dtype, self.device, parts=config.cache_parts)

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
        """Run new rows after the committed ones; the cache's length does not change. All tensors are on its device.

        Args:
            tokens: (n,) int64 ids of the target's vocabulary: the tokens *after* the features.
            positions: (n,) int64, of the features; siblings of a tree share one.
            cache: A cache from `new_cache`.
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
        rotation = None if self.config.layer_ropes[0] is None else self._rope.rows(positions, False)
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
                    mask = step_mask(row_positions, count, sees, cache.length, window, self._cache_dtype, group)
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
        """Make the short way for a few rows, or return None if the library cannot compute all of it."""
        weights, fused = self.weights, [layer for layer in self._fused if layer is not None]
        join = weights.fusion.join
        if join is None or len(fused) < len(self._fused) or weights.logit_soft_cap is not None:
            return None
        model = FusedModel.made_of(self.config, fused, weights.final_norm, weights.head, join)
        if model is None:
            return None
        norms = weights.fusion.norms
        return NextRows(model, weights.embedding, [self._rope], None, join_norms=norms, made_normed=weights.norm_output)

    @property
    def has_short_way(self) -> bool:
        """True if `run_next` has a short way; without one it always returns None."""
        return self._next_rows is not None

    def run_next(
        self, tokens: Sequence[int], cache: KVCache, features: Tensor, check: Callable[[], None]
    ) -> tuple[Tensor, Tensor] | None:
        """Run a few rows of a chain after the committed ones; rows are committed before others build upon them.

        Args:
            tokens: (n) ids of the target's vocabulary, after the features.
            cache: A cache from `new_cache`.
            features: (n, h) of the target, or the draft's own outputs in their place.
            check: Called between blocks where they take long; raises to cancel.

        Returns:
            (n, Vd) float32 logits after each row, by the draft's own ids, and what `run` returns, both in memory
            that the next call overwrites; None if there is no shorter way than `run` and `logits`.
        """
        if self._next_rows is None or len(tokens) > MOST_ROWS:
            return None
        return self._next_rows([NextText(tokens, cache)], check, features)

    @torch.inference_mode()
    def logits(self, features: Tensor) -> Tensor:
        """Map (n, h) features to (n, Vd) float32 logits after each of them, by the draft's own ids."""
        weights = self.weights
        if weights.final_norm is not None and not weights.norm_output:
            features = weights.final_norm(features)
        return weights.logits(features)

    def target_tokens(self, tokens: Tensor) -> Tensor:
        """Return the target's ids of the draft's tokens, of any shape."""
        ids = self.weights.target_ids
        return tokens if ids is None else ids[tokens]
