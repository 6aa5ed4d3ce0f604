"""A prompt that is read piece by piece, so that a cancel is seen in time and others may share its forwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from engine.decoding.asked_rows import AskedRows
from engine.decoding.target import LAYER_GOAL_S
from engine.model.layer import OnWait, no_work

if TYPE_CHECKING:
    from engine.decoding.sequence import TokenSequence

_FIRST_PIECE = 16
_LARGEST_PIECE = 512


class PromptReading:
    """Reads the part of a prompt that a text's cache does not hold yet.

    Args:
        sequence: The text.
        prompt: Token ids that begin with what the cache holds.
        progress: Called with tokens done and tokens in all.
        on_wait: Called while weights are on their way; see `engine.model.layer.OnWait`.
    """

    def __init__(
        self,
        sequence: TokenSequence,
        prompt: Sequence[int],
        progress: Callable[[int, int], None],
        on_wait: OnWait = no_work,
    ) -> None:
        self._sequence = sequence
        self._prompt = prompt
        self._progress = progress
        self._on_wait = on_wait
        # Weights that come from the disk are passed as seldom as can be, and the pieces are cut within the layers.
        self._piece = _LARGEST_PIECE if sequence.streams else _FIRST_PIECE
        progress(len(sequence.token_ids), len(prompt))

    def ask(self) -> AskedRows:
        """The next piece."""
        start = len(self._sequence.token_ids)
        ids = self._prompt[start : start + self._piece]
        ends = start + len(ids) == len(self._prompt)
        return AskedRows(self._sequence, ids, ends_prompt=ends, on_wait=self._on_wait)

    def take(self, asked: AskedRows) -> bool:
        """A piece was read; returns whether it was the last."""
        sequence, count = self._sequence, len(asked.tokens)
        sequence.commit(asked.tokens, range(count))
        self._progress(len(sequence.token_ids), len(self._prompt))
        if not sequence.streams and count == self._piece:
            layer_s = asked.seconds / sequence.layers
            if layer_s < LAYER_GOAL_S / 2:
                self._piece = min(self._piece * 2, _LARGEST_PIECE)
            elif layer_s > LAYER_GOAL_S:
                self._piece = max(self._piece // 2, 1)
        return asked.ends_prompt
