"""Thoughts of a model before it answers: text between ``<think>`` and ``</think>`` at a reply's beginning."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from engine.text.stop import overlap

OPEN = "<think>"
CLOSE = "</think>"


def without_thoughts(reply: str) -> str:
    """Return the answer alone, as templates of thinking models want earlier turns; an endless thought is no answer.

    Only what a reply begins with is a thought: a text about the mark may hold it.
    """
    if not begins_with_thought(reply):
        return reply
    return reply.partition(CLOSE)[2].lstrip()


def begins_with_thought(reply: str) -> bool:
    """Return whether a reply, or a part of one, opens with a thought."""
    return reply.lstrip().startswith(OPEN)


def thought_tokens(reply: str, ends: Sequence[int]) -> int:
    """Count a reply's tokens that are thoughts, with the marks around them.

    Args:
        reply: Its text so far.
        ends: For each token the length of the text after it.
    """
    if not begins_with_thought(reply):
        return 0
    closed = reply.find(CLOSE)
    return len(ends) if closed < 0 else min(bisect_left(ends, closed + len(CLOSE)) + 1, len(ends))


class ThoughtAndAnswer:
    """Divides a reply, as it comes, into its thought and its answer, without the marks and the space around them.

    Args:
        opening: The beginning of the reply that was there before, where it is continued.
    """

    def __init__(self, opening: str = "") -> None:
        self._place = "begin"
        self._held = ""
        self.add(opening)
        if self._place == "thought":
            self._held = ""

    def add(self, text: str) -> tuple[str, str]:
        """Take a piece of the reply.

        Returns:
            What is certain now of the thought, and of the answer; both may be empty.
        """
        self._held += text
        thought = ""
        if self._place == "begin":
            begun = self._held.lstrip()
            if begun.startswith(OPEN):
                self._place, self._held = "thought begins", begun.removeprefix(OPEN)
            elif not OPEN.startswith(begun):
                self._place = "answer"
        if self._place == "thought begins":
            self._held = self._held.lstrip()
            if self._held:
                self._place = "thought"
        if self._place == "thought":
            inner, closed, behind = self._held.partition(CLOSE)
            if closed:
                thought, self._held, self._place = inner.rstrip(), behind, "answer begins"
            else:
                certain = inner[: len(inner) - overlap(inner, CLOSE)].rstrip()
                thought, self._held = certain, inner[len(certain) :]
        if self._place == "answer begins":
            self._held = self._held.lstrip()
            if self._held:
                self._place = "answer"
        if self._place != "answer":
            return thought, ""
        answer, self._held = self._held, ""
        return thought, answer

    def end(self) -> tuple[str, str]:
        """Text that was held back, once nothing more comes."""
        held, self._held = self._held, ""
        if self._place == "begin":
            self._place = "answer"
            return "", held
        return held.rstrip(), ""
