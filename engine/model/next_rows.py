"""A token, a short chain or a small tree behind a text: a forward of which all but a few numbers is the last one's.

Each forward of a small model pushes what Python and torch work with out of the processor's caches, so what they do
between two of them costs ten times what it takes by itself, and the less of it there is the better.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from engine.kernels import layer as kernel
from engine.model.attention import Paths
from engine.model.embedding import Embedding
from engine.model.fused_layer import FusedStep, fused_step
from engine.model.fused_model import FusedModel, Stop
from engine.model.kv_cache import KVCache
from engine.model.rope import RopeTable

#: Rows that a small network reads one behind the other in this way; further ones are read together before.
MOST_ROWS = 8


class NextRows:
    """Runs a few rows through a fused model; nothing of it depends on how many came before.

    Args:
        model: The model.
        embedding: Its embedding.
        ropes: Its rotations.
        scale: Of embeddings, or None.
        most: Rows, at most.

    Attributes:
        most: The same.
    """

    def __init__(
        self,
        model: FusedModel,
        embedding: Embedding,
        ropes: Sequence[RopeTable],
        scale: float | None,
        most: int = MOST_ROWS,
    ) -> None:
        self.most = most
        self._model = model
        self._embedding = embedding
        self._ropes = ropes
        self._scale = scale
        given, hidden = torch.empty(most, model.given), torch.empty(most, model.hidden)
        normed, logits = torch.empty(most, model.hidden), torch.empty(most, model.vocabulary)
        self._joins = model.given > model.hidden
        embedded = given[:, : model.hidden] if self._joins else hidden
        self._features = given[:, model.hidden :]
        # Slicing a tensor between two forwards takes longer than looking a slice up.
        self._embedded = [embedded[:count] for count in range(most + 1)]
        self._logits = [logits[:count] for count in range(most + 1)]
        self._made = [(hidden if self._joins else normed)[:count] for count in range(most + 1)]
        self._normed = normed.data_ptr()
        self._stop = Stop(None)
        self._pass = kernel.Pass(
            given=given.data_ptr(),
            hidden=hidden.data_ptr(),
            normed=self._normed,
            logits=logits.data_ptr(),
            stop=self._stop.pointer,
        )
        self._described: list[FusedStep] = []
        self._steps: list[tuple[kernel.Step, RopeTable | None]] = []
        self._stores: ctypes.Array[ctypes.c_void_p] | None = None
        self._chain: int | None = None  # the depths of its rows

    def __call__(
        self,
        tokens: Sequence[int],
        cache: KVCache,
        check: Callable[[], None],
        features: Tensor | None = None,
        place: int | None = None,
        paths: Paths | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Read tokens behind the committed rows; no later forward builds upon their rows before they are committed.

        Args:
            tokens: Their ids, at most ``most``.
            cache: Its length does not change.
            check: Called between layers where a forward takes long; raises to cancel.
            features: (n, h), with which a model that joins joins the tokens' embeddings.
            place: Address of (n, h) float32 that takes what the head maps, of a model that does not join; None for the
                memory that is returned.
            paths: Which of these rows each sees; None for a chain.

        Returns:
            (n, V) float32 logits and (n, h), what the head mapped, or before a final norm where the model joins: in
            memory that the next call overwrites.

        Raises:
            ValueError: The cache has no room.
        """
        count = len(tokens)
        position = cache.place_next(count)
        if cache.addresses is not self._stores:
            self._describe(cache)
        held = []
        for step, rope in self._steps:
            step.m, step.length = count, position
            if paths is None:
                step.depths, step.ancestors, step.ancestors_stride = self._chain, None, 0
            else:
                step.depths, step.ancestors = paths.depths.data_ptr(), paths.rows.data_ptr()
                step.ancestors_stride = paths.rows.shape[1]
            if rope is not None:
                rope.reserve(position + count)
                step.cosine, step.sine = rope.addresses(position, cache.long_text)
                if paths is not None:
                    rotated = rope.rows(paths.depths + (position - 1), cache.long_text)
                    step.cosine, step.sine = (part.data_ptr() for part in rotated)
                    held.append(rotated)
        rows = self._embedded[count]
        self._embedding.read_rows(tokens, rows)
        if self._scale is not None:
            rows *= self._scale
        if features is not None:
            self._features[:count] = features
        self._pass.normed = self._normed if place is None else place
        self._pass.m = self._pass.count = count
        self._stop.check = check
        if not kernel.forward_model(self._model.structure, self._pass):
            raise self._stop.raised
        return self._logits[count], self._made[count]

    def _describe(self, cache: KVCache) -> None:
        """Make the structures for a cache's tensors."""
        rows = torch.arange(self.most)
        for rope in self._ropes:
            rope.reserve(self.most)
        self._described = [
            fused_step(
                *(self.most, None, cache.store(0), 0, 0, window),
                None if rope is None else self._ropes[rope].rows(rows, False),
            )
            for window, rope in self._model.kinds
        ]
        steps = (kernel.Step * len(self._described))(*(one.step for one in self._described))
        self._chain = steps[0].depths
        self._stores = cache.addresses
        self._pass.steps, self._pass.caches = ctypes.addressof(steps), ctypes.addressof(self._stores)
        self._steps = [
            (step, None if rope is None else self._ropes[rope])
            for step, (_, rope) in zip(steps, self._model.kinds, strict=True)
        ]
