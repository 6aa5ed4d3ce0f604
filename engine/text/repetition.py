"""Detection of texts that go round in a circle, as small models' replies do when they are greedy.

`LoopWatch` notices a circle while a reply is written, late enough to be sure; `loop_start` finds where it began in a
text that is complete, and `repeated_from` how much of such a text says anything new.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence

# Longest circle that is looked for, and how far back, in tokens.
_LONGEST_PERIOD = 128
_WINDOW = 640
# Least size of an exact circle: rounds, and tokens in all. Three equal lines of a table are none.
_ROUNDS, _TOKENS = 3, 32
# The same where tokens differ from round to round, as a counter does: one in so many may.
_NEAR_ROUNDS, _NEAR_TOKENS, _NEAR_ONE_IN = 5, 72, 12


def loop_start(tokens: Sequence[int]) -> int | None:
    """Start of the cycle that a text ends in; None where it ends in none.

    Exact circles of 3 rounds and 32 tokens count, and near ones of 5 rounds and 72 tokens in which at most one token in
    12 is not the one of the round before. Rows of a table or of a program that differ in more are no circle. It takes
    a few tenths of a millisecond.

    Args:
        tokens: (n,) token ids; circles of up to 128 tokens are found, and as far back as 640.

    Returns:
        The index at which the first round begins, or the window that was looked at.
    """
    begin = max(0, len(tokens) - _WINDOW)
    end = len(tokens)
    for period in range(1, min(_LONGEST_PERIOD, (end - begin) // _ROUNDS) + 1):
        exact, near = _runs(tokens, begin, end, period)
        if exact >= (_ROUNDS - 1) * period and exact + period >= _TOKENS:
            return end - exact - period
        if near >= (_NEAR_ROUNDS - 1) * period and near + period >= _NEAR_TOKENS:
            return end - near - period
    return None


def _runs(tokens: Sequence[int], begin: int, end: int, period: int) -> tuple[int, int]:
    """Tokens at the end that are those of a period before: all of them, and all but one in 12."""
    exact = near = differing = 0
    for compared, at in enumerate(range(end - 1, begin + period - 1, -1), 1):
        if tokens[at] != tokens[at - period]:
            differing += 1
            # One more than the share, so that one at the very end does not hide the rest.
            if differing > 1 + compared // _NEAR_ONE_IN:
                break
        elif differing <= compared // _NEAR_ONE_IN:
            near = compared
        if not differing:
            exact = compared
    return exact, near


# A token is old where it lies in a run of so many that stood in the text so many times before.
_RUN, _BEFORE = 6, 2
# A text repeats itself once so large a share of so many last tokens is old. The first pair is for prose; what repeats
# itself by its nature (code, tables, what the person asked for) and what changes a word in each round waits longer.
_SURE_TOKENS, _SURE_SHARE = 128, 0.985
_LONG_TOKENS, _LONG_SHARE = 768, 0.9
# Prose has at most this share of characters that are no letters, spaces or points; code and tables have more.
_SIGNS_IN_PROSE = 0.06
_POINTS = frozenset(".,;:!?'’-")


# A text of which the end is said again goes on saying it: at least so large a share of what follows is old.
_REPEATED_SHARE = 0.9


def repeated_from(tokens: Sequence[int]) -> int:
    """Start of the repetition in a text that ends in a circle: behind the first round.

    Returns:
        The index of the first token of the longest end that is old but for a tenth; n where there is none.
    """
    old, runs = bytearray(len(tokens)), set[tuple[int, ...]]()
    for end in range(_RUN, len(tokens) + 1):
        run = tuple(tokens[end - _RUN : end])
        if run in runs:
            old[end - _RUN : end] = b"\x01" * _RUN
        runs.add(run)
    begin, count = len(tokens), 0
    for length, at in enumerate(range(len(tokens) - 1, -1, -1), 1):
        count += old[at]
        if old[at] and count >= _REPEATED_SHARE * length:
            begin = at
    return begin


class LoopWatch:
    """Notices that a text repeats itself, by exact circles or by rounds that differ in a few words.

    Most of its last tokens lie in runs that it has had at least twice before. Each token costs a look into a
    dictionary, however long the text is. Settled with 20 greedy stories of SmolLM2 135M, all of which go round in
    circles, against code, tables, JSON, songs with a refrain and this project's files.

    Args:
        decode: Token ids to text.
        asked: Words of the person: text that is all from there may be repeated for longer.
    """

    def __init__(self, decode: Callable[[Sequence[int]], str], asked: str = "") -> None:
        self._decode = decode
        self._asked = asked.casefold()
        self._tokens: deque[int] = deque(maxlen=_LONG_TOKENS)
        self._runs: dict[int, int] = {}  # by their hashes, how often
        self._old: deque[bool] = deque(maxlen=_LONG_TOKENS)
        self._lately = self._of_long = 0  # old ones among the last tokens
        self._last: tuple[int, ...] = ()
        self._next_look = 0
        self._count = 0

    def add(self, token: int) -> bool:
        """Take the next token; returns whether the text repeats itself by now."""
        self._drop()
        self._tokens.append(token)
        self._old.append(False)
        self._count += 1
        self._last = (*self._last[1 - _RUN :], token)
        if self._count >= _RUN:
            run = hash(self._last)
            before = self._runs.get(run, 0)
            self._runs[run] = before + 1
            if before >= _BEFORE:
                self._cover()
        if self._of_long >= _LONG_SHARE * _LONG_TOKENS:
            return True
        if self._lately < _SURE_SHARE * _SURE_TOKENS or self._count < self._next_look:
            return False
        self._next_look = self._count + _SURE_TOKENS // 4
        return self._is_prose_of_its_own()

    def _drop(self) -> None:
        """Take the tokens that leave the windows out of the counts."""
        if len(self._old) >= _SURE_TOKENS:
            self._lately -= self._old[-_SURE_TOKENS]
        if len(self._old) == _LONG_TOKENS:
            self._of_long -= self._old[0]

    def _cover(self) -> None:
        """Mark the run at the end as old."""
        for back in range(1, _RUN + 1):
            if not self._old[-back]:
                self._old[-back] = True
                self._lately += 1
                self._of_long += 1

    def _is_prose_of_its_own(self) -> bool:
        text = self._decode([self._tokens[at] for at in range(-_SURE_TOKENS, 0)])
        signs = sum(not (sign.isalpha() or sign.isspace() or sign in _POINTS) for sign in text)
        words = re.findall(r"\w+", text.casefold())[1:-1]  # the first and the last may be cut
        asked_for = all(word in self._asked for word in words)
        return signs <= _SIGNS_IN_PROSE * len(text) and not asked_for
