"""Whether a text goes round in a circle at its end, as small models' replies do when they are greedy."""

from __future__ import annotations

from collections.abc import Sequence

# Longest circle that is looked for, and how far back, in tokens.
_LONGEST_PERIOD = 128
_WINDOW = 640
# What an exact circle is at least: rounds, and tokens in all. Three equal lines of a table are none.
_ROUNDS, _TOKENS = 3, 32
# The same where tokens differ from round to round, as a counter does: one in so many may.
_NEAR_ROUNDS, _NEAR_TOKENS, _NEAR_ONE_IN = 5, 72, 12


def loop_start(tokens: Sequence[int]) -> int | None:
    """Where the circle begins in which a text ends; None where it ends in none.

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
