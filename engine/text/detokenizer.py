"""Tokens to text while they arrive, never showing half a character."""

from __future__ import annotations

from collections.abc import Callable, Sequence

_REPLACEMENT = "\ufffd"
# A character has at most four bytes, so after this many tokens a replacement mark is no unfinished character.
_LONGEST_WAIT_TOKENS = 8


class Detokenizer:
    """Decodes a growing reply token by token.

    A token's text depends on its neighbours (a leading space is dropped at the start of a text, one character may
    be spread over several tokens), so each step decodes a short window that starts at the last settled point, once
    with and once without what is new, and takes the difference.
    """

    def __init__(self, decode: Callable[[Sequence[int]], str]) -> None:
        """Start an empty reply; ``decode`` turns token ids into text."""
        self._decode = decode
        self._ids: list[int] = []
        self._window = 0
        self._shown = 0

    def follow(self, token_ids: Sequence[int]) -> None:
        """Take these as shown: what is added is in the middle of a text, so its first space stays."""
        self._ids = list(token_ids)
        self._shown = len(self._ids)

    def add(self, token_id: int) -> str:
        """Text that this token settles: whole characters, or nothing yet."""
        self._ids.append(token_id)
        before, after = self._texts()
        unfinished = after.endswith(_REPLACEMENT) and len(self._ids) - self._shown < _LONGEST_WAIT_TOKENS
        if len(after) <= len(before) or unfinished:
            return ""
        self._window = self._shown
        self._shown = len(self._ids)
        return after[len(before) :]

    def copy(self) -> Detokenizer:
        """One that goes on from here and leaves this one as it is."""
        other = Detokenizer(self._decode)
        other._ids = list(self._ids)
        other._window, other._shown = self._window, self._shown
        return other

    def finish(self, cut: bool = False) -> str:
        """Text still held back at the end of the reply; one that is cut there ends before a torn character."""
        before, after = self._texts()
        self._window = self._shown = len(self._ids)
        held = after[len(before) :]
        return held.rstrip(_REPLACEMENT) if cut else held

    def _texts(self) -> tuple[str, str]:
        return self._decode(self._ids[self._window : self._shown]), self._decode(self._ids[self._window :])


def overlap(text: str, stop: str) -> int:
    """Length of the longest proper beginning of ``stop`` that ``text`` ends with."""
    return next((n for n in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:n])), 0)
