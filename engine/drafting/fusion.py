"""Feature drafts' ways of joining the target's hidden state with the embedding of the token behind it: a class each.

A *feature* is a hidden state of the target, or the draft's own output in its place inside a tree. Row i of the draft
joins the feature of position i with the token at position i + 1, and guesses the feature of position i + 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from engine.model.linear import LinearMap, Norm


class Fusion(ABC):
    """The draft's way in.

    Attributes:
        join: The one matrix that maps [embedding; feature] to the residual stream; None where there is more to it.
    """

    join: LinearMap | None = None

    def __init__(self, *parts: Norm | LinearMap | None) -> None:
        self._parts = parts

    @property
    def size_bytes(self) -> int:
        """Bytes of its weights."""
        return sum(part.size_bytes for part in self._parts if part is not None)

    def reduce(self, target_features: Tensor) -> Tensor:
        """Hidden rows of the target, (n, k * target's h), as features of the draft's width, (n, h)."""
        return target_features

    @abstractmethod
    def __call__(self, embedding: Tensor, features: Tensor) -> tuple[Tensor, Tensor | None]:
        """Join (n, h) embeddings with (n, h) features.

        Returns:
            The residual stream (n, h) that enters the first block, and what that block's attention maps, (n, in),
            or None where it is the stream itself.
        """


class EagleFusion(Fusion):
    """One matrix over both side by side: fc([embedding; feature]), EAGLE-1 and EAGLE-2.

    Args:
        fc: 2 h -> h.
        norm: Of the embedding (speculators' ``layernorms``), or None.
    """

    def __init__(self, fc: LinearMap, norm: Norm | None = None) -> None:
        super().__init__(fc, norm)
        self._fc, self._norm = fc, norm
        self.join = fc if norm is None else None

    def __call__(self, embedding: Tensor, features: Tensor) -> tuple[Tensor, Tensor | None]:
        """Join by one linear map."""
        if self._norm is not None:
            embedding = self._norm(embedding)
        return self._fc(torch.cat((embedding, features), -1)), None


class DovetailFusion(Fusion):
    """Dynamic gated fusion: a gate z in (0, 1) weighs both for each channel. Dovetail, section III-B, figure 6.

    h1 = W_1 feature, h2 = SiLU(W_2 norm(embedding)), z = sigmoid(W_z [h1; h2]), out = z h1 + (1 - z) h2. The norm and
    the SiLU are those of the paper's own code.

    Args:
        norm: Of the embedding.
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
        target_norms: Of the rows before ``fc``: one over all (``norm_before_fc`` in the speculators' format), one for
            each layer's (EAGLE-3.1's ``fc_norm``), or none.
        norm_before_residual: The normalised feature enters the residual stream, not the feature itself.
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
        """Several layers' rows to one feature. The draft's own output needs none of this."""
        if self._target_norms:
            parts = target_features.chunk(len(self._target_norms), -1)
            normed = [norm(part) for norm, part in zip(self._target_norms, parts, strict=True)]
            target_features = torch.cat(normed, -1)
        return self._fc(target_features)

    def __call__(self, embedding: Tensor, features: Tensor) -> tuple[Tensor, Tensor | None]:
        """Put both side by side for attention."""
        normed = self._feature_norm(features)
        rows = torch.cat((self._embedding_norm(embedding), normed), -1)
        return (normed if self._norm_before_residual else features), rows
