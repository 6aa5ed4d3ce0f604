"""Texts whose places are found by the tokens before them: the present one, and earlier replies of the same model.

Places are sorted by what stands before them, read backwards: a suffix array of texts that grow. So the longest suffix
of a text that occurred before is next to where its own end would stand, and all its occurrences stand together, in
eight bytes a token. Texts of other chats are in memory alone; their number is bounded, and the least used go first.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nlargest

import numpy

#: A longer match decides nothing more.
LONGEST_MATCH = 32
#: A single token says too little.
SHORTEST_MATCH = 2
# Places of one match that are looked at, the latest ones; and how far its places are looked for at first
_PLACES, _NEAR = 8, 16
_SIZE = array("i").itemsize
# Stands between two texts, and is no token
_END = -1
# Tokens of earlier texts, and the share of them that is kept when there are more; the most of one text, and of what
# stands before it
_MOST_TOKENS, _KEPT_SHARE, _MOST_OF_ONE = 1 << 19, 0.9, 1 << 15


class Texts:
    """Tokens of one text, or of several with a token that is none between them, and their places in order."""

    def __init__(self) -> None:
        self.tokens = array("i")
        self._order = array("i")

    def __len__(self) -> int:
        return len(self.tokens)

    def append(self, token: int) -> None:
        """Append one token."""
        place = len(self.tokens)
        self.tokens.append(token)
        if place:
            self._order.insert(bisect_left(self._order, self._before(place), key=self._before), place)

    def extend(self, tokens: Sequence[int]) -> None:
        """Append many tokens."""
        first = max(len(self.tokens), 1)
        self.tokens.extend(tokens)
        text = self.tokens
        new = [place for place in range(first, len(text)) if text[place] != _END and text[place - 1] != _END]
        new.sort(key=self._before)
        if not self._order:
            self._order = array("i", new)
            return
        at = [bisect_left(self._order, self._before(place), key=self._before) for place in new]
        self._order = array("i", numpy.insert(numpy.asarray(self._order), at, new).astype(numpy.intc).tobytes())

    def end(self, guesses: Sequence[int] = ()) -> array[int]:
        """Return the last tokens of the text and of some guesses behind it, the last one first."""
        return array("i", [*self.tokens[-LONGEST_MATCH:], *guesses][: -LONGEST_MATCH - 1 : -1])

    def find(self, end: array[int]) -> tuple[int, list[int]]:
        """Return the length of the longest suffix that occurred before, and the latest places after it.

        Args:
            end: The last tokens, as `end` returns them.
        """
        wanted, order, before = end.tobytes(), self._order, self._before
        at = bisect_left(order, wanted, key=before)
        length = max((_common(before(place), wanted) for place in order[max(at - 1, 0) : at + 1]), default=0)
        if length < SHORTEST_MATCH:
            return 0, []
        size = length * _SIZE
        prefix = wanted[:size]
        # Most matches have few places, so the ends of their range are close.
        near = max(at - _NEAR, 0)
        first = bisect_left(order, prefix, 0 if before(order[near]).startswith(prefix) else near, at, key=before)
        near = min(at + _NEAR, len(order) - 1)
        stop = len(order) if before(order[near]).startswith(prefix) else near
        last = bisect_right(order, prefix, at, max(at, stop), key=lambda place: before(place)[:size])
        return length, nlargest(_PLACES, order[first:last])

    def _before(self, place: int) -> bytes:
        """Return the tokens before a place, the last one first."""
        return self.tokens[place - 1 : place - LONGEST_MATCH - 1 if place > LONGEST_MATCH else None : -1].tobytes()

    def _drop(self, first: int, last: int) -> None:
        """Drop tokens and their places."""
        numpy.asarray(self.tokens)[first:last] = 0  # what stays behind the end of the array is no text
        del self.tokens[first:last]
        order = numpy.asarray(self._order)
        left = order[(order < first) | (order >= last)]
        self._order = array("i", numpy.where(left >= last, left - (last - first), left).astype(numpy.intc).tobytes())


@dataclass(eq=False)
class Chat:
    """A chat, whose texts go with it."""


@dataclass(eq=False)
class _Text:
    """One text among others."""

    chat: Chat
    size: int  # tokens, the one at its end included
    used: int  # when it was of use last, in events


class EarlierTexts(Texts):
    """Prompts and replies of a model's chats, in memory alone."""

    def __init__(self) -> None:
        super().__init__()
        self._texts: list[_Text] = []  # in the order of their tokens
        self._chats: dict[str, Chat] = {}
        self._events = 0

    def chat(self, name: str) -> Chat:
        """Return a chat, for `add`."""
        return self._chats.setdefault(name, Chat())

    def add(self, chat: Chat, tokens: Sequence[int]) -> None:
        """Add what is new of a prompt and its reply; nothing if the chat was erased meanwhile."""
        if chat not in self._chats.values():
            return
        text = array("i", tokens)
        known = 0
        while known < len(text):
            end = min(known + LONGEST_MATCH, len(text))
            if not self._knows(text[max(end - LONGEST_MATCH, 0) : end]):
                break
            known = end
        new = text[max(known - LONGEST_MATCH, len(text) - _MOST_OF_ONE, 0) :]
        if known >= len(text):
            return
        new.append(_END)
        self._events += 1
        self._texts.append(_Text(chat, len(new), self._events))
        self.extend(new)
        if len(self) > _MOST_TOKENS:
            self._make_room()

    def _knows(self, tokens: array[int]) -> bool:
        """Return whether all of these tokens stand somewhere in this order."""
        length, places = self.find(tokens[-2::-1])
        return length == len(tokens) - 1 and any(self.tokens[place] == tokens[-1] for place in places)

    def use(self, place: int) -> None:
        """Note that a place was of use."""
        self._events += 1
        for text in self._texts:
            if place < text.size:
                text.used = self._events
                return
            place -= text.size

    def after(self, place: int, most: int) -> Sequence[int]:
        """Return at most so many tokens of a text from a place on."""
        found = self.tokens[place : place + most]
        return found[: found.index(_END)] if _END in found else found

    def forget(self, name: str) -> None:
        """Drop the texts of a chat, or (an empty name) of all chats."""
        gone = [self._chats.pop(one) for one in list(self._chats) if name in ("", one)]
        self._leave([text for text in self._texts if text.chat not in gone])

    def _make_room(self) -> None:
        size, left = 0, set[int]()
        for text in sorted(self._texts, key=lambda text: -text.used):
            size += text.size
            if size > _KEPT_SHARE * _MOST_TOKENS:
                break
            left.add(id(text))
        self._leave([text for text in self._texts if id(text) in left])

    def _leave(self, left: Sequence[_Text]) -> None:
        """Leave some texts, and drop the others."""
        stays, last = set(map(id, left)), len(self)
        for text in reversed(self._texts):
            if id(text) not in stays:
                self._drop(last - text.size, last)
            last -= text.size
        self._texts = list(left)


def _common(first: bytes, second: bytes) -> int:
    """Return how many tokens two texts begin alike with."""
    size = min(len(first), len(second))
    differ = int.from_bytes(first[:size], "little") ^ int.from_bytes(second[:size], "little")
    return ((differ & -differ).bit_length() - 1) // (8 * _SIZE) if differ else size // _SIZE
