"""Ends of a reply: end-of-text tokens, stop strings that may span tokens, the limit of tokens, and loops."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from copy import copy
from typing import TYPE_CHECKING, Literal

from engine.text.detokenizer import Detokenizer, overlap

if TYPE_CHECKING:
    from engine.text.reasoning import ReplyReader

Reason = Literal["end", "stop", "length", "loop"]


class ReplyText:
    """The reply as it grows: takes tokens one by one and says when to stop.

    Text that might be the beginning of a stop string is held back until it is certain that it is not.
    """

    def __init__(
        self,
        decode: Callable[[Sequence[int]], str],
        end_ids: Collection[int],
        stop: Sequence[str] = (),
        limit: int | None = None,
        loops: Callable[[int], bool] | None = None,
        reader: ReplyReader | None = None,
        ends: Sequence[str] = (),
    ) -> None:
        """Start an empty reply.

        Args:
            decode: Token ids to text.
            end_ids: Tokens that end it; they add no text.
            stop: Strings that end it and are not part of it; empty ones are ignored.
            limit: Most tokens to take, None for no limit.
            loops: Takes each token and says whether the reply repeats itself, which ends it; None asks nobody.
            reader: Brings the text into ``<think>``; None for one that comes in it.
            ends: Strings that end it as an end-of-text token does.
        """
        self._detokenizer = Detokenizer(decode)
        self._end_ids = end_ids
        self._ends = frozenset(ends)
        self._stop = [string for string in (*ends, *stop) if string]
        self._limit = limit
        self._loops = loops
        self._reader = reader
        self._held = ""
        self._fresh = ""
        self.token_ids: list[int] = []  # every token taken, the end-of-text token too
        self.ends: list[int] = []  # for each token the length of the text that was certain once it was taken
        self.text = ""
        self.stop_reason: Reason | None = None  # None while the reply goes on
        self.stop_text = ""  # the string that stopped it; empty where another reason did

    @property
    def remaining(self) -> int | None:
        """Tokens that may still come, None for no limit."""
        return None if self._limit is None else max(0, self._limit - len(self.token_ids))

    def follow(self, token_ids: Sequence[int]) -> None:
        """Continue the text that ends with these tokens; they are no part of this reply. Called before `add`."""
        self._detokenizer.follow(token_ids)

    def begin(self, text: str) -> None:
        """Put a text before the first token: what the prompt has of the reply already."""
        self._emit(text)

    def add(self, token_id: int) -> bool:
        """Take one token. Returns whether the reply goes on after it."""
        self.token_ids.append(token_id)
        if token_id in self._end_ids:
            self.close("end")
        else:
            self._extend(self._detokenizer.add(token_id))
            if self.stop_reason is None and self.remaining == 0:
                self.close("length")
            elif self.stop_reason is None and self._loops is not None and self._loops(token_id):
                self.close("loop")
        self.ends.append(len(self.text))
        return self.stop_reason is None

    def take_fresh(self) -> str:
        """Text that became certain since the last call."""
        fresh, self._fresh = self._fresh, ""
        return fresh

    def preview(self, token_ids: Sequence[int]) -> str:
        """Text that these tokens would add if they came next: whole characters, up to where it would end."""
        ahead = copy(self)
        ahead._detokenizer = self._detokenizer.copy()
        ahead._reader = None if self._reader is None else self._reader.copy()
        ahead.token_ids, ahead.ends = list(self.token_ids), list(self.ends)
        ahead._fresh = ""
        ahead._loops = None
        for token_id in token_ids:
            if not ahead.add(token_id):
                break
        return ahead._fresh

    def close(self, reason: Reason | None) -> None:
        """End the reply here (None: from outside, by a cancel) and release the text that is held back."""
        self._extend(self._detokenizer.finish(cut=reason != "end"), last=True)
        if self.stop_reason is None:
            self._emit(self._held)
            self._held = ""
            self.stop_reason = reason

    def _extend(self, text: str, last: bool = False) -> None:
        if self._reader is not None:
            text = self._reader.add(text) + (self._reader.end() if last else "")
        if not self._stop:
            self._emit(text)
            return
        self._held += text
        found = [(at, string) for string in self._stop if (at := self._held.find(string)) >= 0]
        if found:
            at, string = min(found)
            self._emit(self._held[:at])
            self._held = ""
            self.stop_reason = "end" if string in self._ends else "stop"
            self.stop_text = "" if string in self._ends else string
            return
        keep = max(overlap(self._held, string) for string in self._stop)
        self._emit(self._held[: len(self._held) - keep])
        self._held = self._held[len(self._held) - keep :]

    def _emit(self, text: str) -> None:
        self._fresh += text
        self.text += text
