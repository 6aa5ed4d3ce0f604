"""Thoughts of a model before it answers: text between ``<think>`` and ``</think>`` at a reply's beginning."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

OPEN = "<think>"
_CLOSE = "</think>"


def without_thoughts(reply: str) -> str:
    """The answer alone, as templates of thinking models want earlier turns; a thought without end is no answer.

    Only what a reply begins with is a thought: a text about the mark may hold it.
    """
    if not begins_with_thought(reply):
        return reply
    return reply.partition(_CLOSE)[2].lstrip()


def begins_with_thought(reply: str) -> bool:
    """True if a reply, or a part of one, opens with a thought."""
    return reply.lstrip().startswith(OPEN)


def thought_tokens(reply: str, ends: Sequence[int]) -> int:
    """Number of a reply's tokens that are thoughts, with the marks around them.

    Args:
        reply: Its text so far.
        ends: For each token the length of the text after it.
    """
    if not begins_with_thought(reply):
        return 0
    closed = reply.find(_CLOSE)
    return len(ends) if closed < 0 else min(bisect_left(ends, closed + len(_CLOSE)) + 1, len(ends))
