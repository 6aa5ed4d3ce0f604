"""Sequences between replies: the texts that later requests may go on with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.decoding.sequence import TokenSequence
from engine.model.kv_cache import shared_tokens

_MOST = 8


class KeptSequences:
    """Sequences of one model, in use and kept, as many as memory admits.

    Args:
        new: Makes an empty one.
        has_room: True if memory holds so many sequences and one more, each grown to the whole context.
    """

    def __init__(self, new: Callable[[], TokenSequence], has_room: Callable[[int], bool]) -> None:
        self._new = new
        self._has_room = has_room
        self._kept = [new()]  # the one that was used last at the end
        self._in_use = 0

    def open(self, prompt: Sequence[int] = ()) -> TokenSequence:
        """The sequence that serves a prompt with the least loss.

        It is the kept one that shares most with the prompt, where that is half of its text or more. Else the text may
        be wanted again, so the prompt gets a new sequence, or the one that was used longest ago if there is no room.

        Args:
            prompt: Token ids.
        """
        best = max(self._kept, key=lambda kept: shared_tokens(kept.token_ids, prompt), default=None)
        if best is not None and 2 * shared_tokens(best.token_ids, prompt) < len(best.token_ids):
            count = len(self._kept) + self._in_use
            best = None if count < _MOST and self._has_room(count) else self._kept[0]
        if best is not None:
            self._kept.remove(best)
        self._in_use += 1
        return self._new() if best is None else best

    def close(self, sequence: TokenSequence) -> None:
        """Keep a sequence whose reply has ended; where memory has become short, the oldest ones go."""
        self._in_use -= 1
        self._kept.append(sequence)
        while len(self._kept) > 1 and not self._has_room(0):
            del self._kept[0]
