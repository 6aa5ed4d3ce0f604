"""One token more behind a text: a forward of which all but a few numbers is the last one's.

Each forward of a small model pushes what Python and torch work with out of the processor's caches, so what they do
between two of them costs ten times what it takes by itself, and the less of it there is the better.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from engine.kernels import layer as kernel
from engine.model.embedding import Embedding
from engine.model.fused_layer import FusedStep, fused_step
from engine.model.fused_model import FusedModel, Stop
from engine.model.kv_cache import KVCache
from engine.model.rope import RopeTable


class NextRow:
    """Runs one row at a time through a fused model; nothing of it depends on how many came before.

    Args:
        model: All layers and the end.
        embedding: Of the model.
        ropes: By the numbers that the model's kinds give them.
        scale: Of the embedding, or None.
    """

    def __init__(
        self, model: FusedModel, embedding: Embedding, ropes: Sequence[RopeTable], scale: float | None
    ) -> None:
        self._model = model
        self._embedding = embedding
        self._ropes = ropes
        self._scale = scale
        self._hidden = torch.empty(model.hidden)
        #: (1, h), what the head mapped last; the next call overwrites it.
        self.hidden = torch.empty(1, model.hidden)
        self._logits = torch.empty(1, model.vocabulary)
        self._stop = Stop(None)
        self._pass = kernel.Pass(
            hidden=self._hidden.data_ptr(),
            normed=self.hidden.data_ptr(),
            logits=self._logits.data_ptr(),
            m=1,
            count=1,
            stop=self._stop.pointer,
        )
        self._described: list[FusedStep] = []
        self._steps: list[tuple[kernel.Step, RopeTable | None]] = []
        self._stores: ctypes.Array[ctypes.c_void_p] | None = None

    def __call__(self, token: int, cache: KVCache, check: Callable[[], None]) -> Tensor:
        """Read a token behind the committed rows; no later forward builds upon its row before it is committed.

        Args:
            token: Its id.
            cache: Its length does not change.
            check: Called between layers where a forward takes long; raises to cancel.

        Returns:
            (1, V) float32 logits, in memory that the next call overwrites.

        Raises:
            ValueError: The cache has no room.
        """
        position = cache.place_next()
        if cache.addresses is not self._stores:
            self._describe(cache)
        for step, rope in self._steps:
            step.length = position
            if rope is not None:
                rope.reserve(position + 1)
                step.cosine, step.sine = rope.addresses(position, cache.long_text)
        self._embedding.read_row(token, self._hidden)
        if self._scale is not None:
            self._hidden *= self._scale
        self._stop.check = check
        if not kernel.forward_model(self._model.structure, self._pass):
            raise self._stop.raised
        return self._logits

    def _describe(self, cache: KVCache) -> None:
        """Make the structures for a cache's tensors."""
        first = torch.zeros(1, dtype=torch.long)
        for rope in self._ropes:
            rope.reserve(1)
        self._described = [
            fused_step(
                *(1, None, cache.store(0), 0, 0, window),
                None if rope is None else self._ropes[rope].rows(first, False),
            )
            for window, rope in self._model.kinds
        ]
        steps = (kernel.Step * len(self._described))(*(one.step for one in self._described))
        self._stores = cache.addresses
        self._pass.steps, self._pass.caches = ctypes.addressof(steps), ctypes.addressof(self._stores)
        self._steps = [
            (step, None if rope is None else self._ropes[rope])
            for step, (_, rope) in zip(steps, self._model.kinds, strict=True)
        ]
