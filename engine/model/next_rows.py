"""A token, a short chain or a small tree after a text: a forward that reuses all but a few numbers of the last one's.

Each forward of a small model pushes the data of Python and torch out of the processor's caches, so their work
between two forwards costs ten times its usual time, and should be as little as possible.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.kernels import layer as kernel
from engine.model.attention import Paths
from engine.model.embedding import Embedding, LayerInputs
from engine.model.fused_layer import FusedStep, fused_step
from engine.model.fused_model import FusedModel, Stop
from engine.model.kv_cache import KVCache
from engine.model.linear import Norm
from engine.model.rope import RopeTable, Rotation, joined_rotations

#: Rows that a small network reads one after the other in this way; any others are read together before.
MOST_ROWS = 8


@dataclass(frozen=True)
class NextText:
    """New rows of one text; no later forward builds upon them before they are committed."""

    tokens: Sequence[int]  # ids of the rows' tokens
    cache: KVCache  # cache of the text, whose length does not change
    paths: Paths | None = None  # rows among these that each sees; None for a chain
    # Address of (n, h) float32 that takes the head's input of a model that does not join, or None if nobody wants
    # it
    place: int | None = None
    shift: int = 0  # how far positions by which rows are turned are before their own


class NextRows:
    """Runs a few rows through a fused model; its work does not depend on how many rows came before.

    Args:
        scale: Factor of embeddings, or None.
        most: Most rows of a call.
        inputs: Inputs of each layer beside the rows, or None.
        join_norms: Norms of what a joining model joins, embeddings and features, or None for each.
        made_normed: True if a joining model passes on its rows after the final norm.
    """

    def __init__(
        self,
        model: FusedModel,
        embedding: Embedding,
        ropes: Sequence[RopeTable],
        scale: float | None,
        most: int = MOST_ROWS,
        inputs: LayerInputs | None = None,
        join_norms: tuple[Norm | None, Norm | None] = (None, None),
        made_normed: bool = False,
    ) -> None:
        self.most = most  # most rows of a call
        self._model = model
        self._embedding = embedding
        self._ropes = ropes
        self._scale = scale
        self._inputs = inputs
        self._join_norms = join_norms
        given, hidden = torch.empty(most, model.given), torch.empty(most, model.hidden)
        normed, logits = torch.empty(most, model.hidden), torch.empty(most, model.vocabulary)
        self._memory = given, hidden, normed, logits  # the structure below holds addresses only
        self._joins = model.given > model.hidden
        embedded = given[:, : model.hidden] if self._joins else hidden
        self._features = given[:, model.hidden :]
        # Slicing a tensor between two forwards takes longer than looking a slice up.
        self._embedded = [embedded[:count] for count in range(most + 1)]
        self._logits = [logits[:count] for count in range(most + 1)]
        made = hidden if self._joins and not made_normed else normed
        self._made = [made[:count] for count in range(most + 1)]
        self._normed = normed.data_ptr()
        self._row_bytes = normed.stride(0) * normed.itemsize
        self._stop = Stop(None)
        self._chain = torch.arange(1, most + 1, dtype=torch.int32)  # the depths of a chain's rows
        self._chain_address = self._chain.data_ptr()
        self._texts = (kernel.Text * most)()
        self._text = list(self._texts)  # each of them, in the same memory
        self._stores = (ctypes.c_void_p * most)()
        self._known: list[ctypes.Array[ctypes.c_void_p] | None] = [None] * most
        self._pass = kernel.Pass(
            caches=ctypes.addressof(self._stores),
            given=given.data_ptr(),
            hidden=hidden.data_ptr(),
            normed=self._normed,
            logits=logits.data_ptr(),
            stop=self._stop.pointer,
        )
        self._described: list[FusedStep] = []
        self._steps: list[tuple[kernel.Step, RopeTable | None]] = []

    def __call__(
        self, texts: Sequence[NextText], check: Callable[[], None], features: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Read tokens after the committed rows of some texts.

        Args:
            texts: At most ``most`` tokens in all, n, and each text with a cache of its own.
            check: Called between layers if a forward takes long; raises to cancel.
            features: (n, h) rows that a joining model joins with the tokens' embeddings.

        Returns:
            (n, V) float32 logits and (n, h) inputs of the head, or of the final norm if the model joins and does not
            pass on normed rows: in memory that the next call overwrites. If a text has a place for its rows, the
            second result is written nowhere else.

        Raises:
            ValueError: A cache has no room.
        """
        one = texts[0] if len(texts) == 1 else None
        tokens = one.tokens if one is not None else [token for text in texts for token in text.tokens]
        count = len(tokens)
        firsts = [self._describe(at, text) - text.shift for at, text in enumerate(texts)]
        held = self._rotate(texts, firsts)
        for step, _ in self._steps:
            step.m, step.texts = count, len(texts)
        rows = self._embedded[count]
        self._embedding.read_rows(tokens, rows)
        if self._scale is not None:
            rows *= self._scale
        entering = None
        if self._inputs is not None:
            entering = self._inputs(tokens, rows).contiguous()
            for step, _ in self._steps:
                step.inputs, step.inputs_stride = entering.data_ptr(), entering.stride(0)
        if features is not None:
            token_norm, feature_norm = self._join_norms
            self._features[:count] = features if feature_norm is None else feature_norm(features)
            if token_norm is not None:
                rows.copy_(token_norm(rows))
        self._pass.normed = self._normed if one is None or one.place is None else one.place
        self._pass.m = self._pass.count = count
        self._stop.check = check
        self._stop.run(self._model.structure, self._pass)
        del held, entering
        if one is None:
            self._hand_out(texts)
        return self._logits[count], self._made[count]

    def _describe(self, at: int, rows: NextText) -> int:
        """Fill in a text's structure; return the position of its first new row."""
        count, cache, text = len(rows.tokens), rows.cache, self._text[at]
        position = cache.place_next(count)
        if cache.addresses is not self._known[at]:
            store, self._known[at] = cache.any_store, cache.addresses
            self._stores[at] = ctypes.addressof(cache.addresses)
            text.capacity = store.shape[2]
            if not self._steps:
                self._make_steps(store.dtype)
        text.rows, text.length = count, position
        if rows.paths is None:
            text.depths, text.ancestors, text.ancestors_stride = self._chain_address, None, 0
        else:
            text.depths, text.ancestors = rows.paths.depths.data_ptr(), rows.paths.rows.data_ptr()
            text.ancestors_stride = rows.paths.rows.shape[1]
        return position

    def _rotate(self, texts: Sequence[NextText], firsts: Sequence[int]) -> list[Rotation]:
        """Point the steps at the rotations of the new rows; return the tensors to hold meanwhile."""
        held: list[Rotation] = []
        one = texts[0] if len(texts) == 1 else None
        spans: list[tuple[Tensor, bool]] = []
        for step, rope in self._steps:
            if rope is None:
                continue
            rope.reserve(max(firsts) + self.most)
            if one is not None and one.paths is None:
                step.cosine, step.sine, step.query_factors = rope.addresses(firsts[0], one.cache.long_text)
                continue
            spans = spans or _positions(texts, firsts)
            rotated = joined_rotations([rope.rows(positions, long_text) for positions, long_text in spans])
            step.cosine, step.sine, step.query_factors = (None if part is None else part.data_ptr() for part in rotated)
            held.append(rotated)
        return held

    def _hand_out(self, texts: Sequence[NextText]) -> None:
        """Copy the head's inputs to each text's place."""
        first = self._normed
        for text in texts:
            row_bytes = len(text.tokens) * self._row_bytes
            if text.place is not None:
                ctypes.memmove(text.place, first, row_bytes)
            first += row_bytes

    def _make_steps(self, cache: torch.dtype) -> None:
        """Make the structures for caches of this type."""
        first = torch.arange(1)
        for rope in self._ropes:
            rope.reserve(1)
        self._described = [
            fused_step([], cache, window, None if rope is None else self._ropes[rope].rows(first, False))
            for window, rope in self._model.kinds
        ]
        steps = (kernel.Step * len(self._described))(*(one.step for one in self._described))
        self._pass.steps = ctypes.addressof(steps)
        self._steps = [
            (step, None if rope is None else self._ropes[rope])
            for step, (_, rope) in zip(steps, self._model.kinds, strict=True)
        ]
        for step, _ in self._steps:
            step.text = ctypes.addressof(self._texts)


def _positions(texts: Sequence[NextText], firsts: Sequence[int]) -> list[tuple[Tensor, bool]]:
    """Return the positions of the new rows in order, joined for neighbouring texts of one kind, long or not."""
    spans: list[tuple[list[int], bool]] = []
    for text, first in zip(texts, firsts, strict=True):
        if text.paths is None:
            positions = list(range(first, first + len(text.tokens)))
        else:
            positions = [first - 1 + depth for depth in text.paths.depths.tolist()]
        if spans and spans[-1][1] == text.cache.long_text:
            spans[-1][0].extend(positions)
        else:
            spans.append((positions, text.cache.long_text))
    return [(torch.tensor(positions), long_text) for positions, long_text in spans]
