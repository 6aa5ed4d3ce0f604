"""Replies of one model side by side: each turn is one forward over the rows of all that have some ready.

Requests join and leave between two forwards (continuous batching, Yu et al. 2022, "Orca", section 3.1), and a prompt is
read in pieces that share forwards with other requests' rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

import torch

from engine.decoding.asked_rows import AskedRows
from engine.errors import Cancelled

Steps = Generator[AskedRows, None, None]
"""A request in steps: each asks for rows, and goes on when they are computed."""

# Rows of prompts in a forward: beside rounds, which wait for it, and without any.
_BESIDE_ROUNDS = 64
_MOST_PIECES = 512


@dataclass(eq=False)
class _Open:
    request_id: str
    steps: Steps
    asked: AskedRows | None = None
    waits: bool = False  # for memory, until another one ends


class Scheduler:
    """Open requests in the order they came.

    Args:
        check: Raises `Cancelled` when the request whose turn it is has to stop.

    Attributes:
        running: The request whose turn it is.
    """

    def __init__(self, check: Callable[[], None]) -> None:
        self.running = ""
        self._check = check
        self._open: list[_Open] = []
        self._computing: list[_Open] = []

    def __len__(self) -> int:
        return len(self._open)

    def add(self, request_id: str, steps: Steps) -> None:
        """A request begins with the next turn."""
        self._open.append(_Open(request_id, steps))

    def turn(self) -> None:
        """Let each request get to its next forward, and compute one for all."""
        for one in tuple(self._open):
            if one.asked is None:
                self._advance(one)
        self._computing = self._chosen()
        for one in tuple(self._open):
            if one not in self._computing:
                self._check_one(one)
        asked = [one.asked for one in self._computing if one.asked is not None]
        if not asked:
            return
        target = asked[0].sequence.target
        target.width.replies = len(self._open)
        target.width.divide(asked)
        try:
            target.compute(asked, self._check_all)
        except Exception as error:
            if len(self._computing) > 1 and _is_short_memory(error):
                self._hold_back()
                return
            self._throw(error)
        else:
            first = asked[0]
            if first.beside and all(one.draft is not None for one in asked):
                target.width.observe(first.rows + first.beside, first.seconds, first.waited_s)
        for one in self._computing:
            one.asked = None
        self._computing = []

    def _chosen(self) -> list[_Open]:
        """Those whose rows the next forward has: pieces of prompts, the oldest first, and all rounds."""
        rounds: list[_Open] = []
        pieces: list[_Open] = []
        for one in self._open:
            if one.asked is not None and not one.waits:
                (pieces if one.asked.draft is None else rounds).append(one)
        if len(pieces) + len(rounds) < 2:
            return pieces or rounds
        room = _MOST_PIECES
        if any(one.asked is not None and not one.asked.sequence.streams for one in rounds):
            room = _BESIDE_ROUNDS
        chosen = []
        for one in pieces:
            if one.asked is not None and room > 0:
                one.asked.cut(room)
                room -= one.asked.rows
                chosen.append(one)
        return chosen + rounds

    def _hold_back(self) -> None:
        """Let the newest wait without its cache, which memory is too short for; the others try again without it."""
        newest = max(self._computing, key=self._open.index)
        newest.waits = True
        if newest.asked is not None:
            newest.asked.sequence.release()
        self._computing = []

    def _close(self, one: _Open) -> None:
        """A request has ended, and its memory may do for those that wait."""
        self._open.remove(one)
        for other in self._open:
            other.waits = False

    def _advance(self, one: _Open) -> None:
        self.running = one.request_id
        try:
            one.asked = next(one.steps)
        except StopIteration:
            self._close(one)

    def _throw(self, error: Exception) -> None:
        """Tell those that wait for the forward that it failed."""
        for one in self._computing:
            self._end(one, error)

    def _end(self, one: _Open, error: Exception) -> None:
        self.running = one.request_id
        self._computing = [other for other in self._computing if other is not one]
        try:
            one.asked = one.steps.throw(error)
        except StopIteration:
            self._close(one)

    def _check_one(self, one: _Open) -> None:
        """End a request that is to stop."""
        self.running = one.request_id
        try:
            self._check()
        except Cancelled as error:
            self._end(one, error)

    def _check_all(self) -> None:
        """End requests that are to stop; the forward goes on for the others, and ends where there are none."""
        for one in tuple(self._computing):
            self._check_one(one)
        if not self._computing:
            raise Cancelled("")


def _is_short_memory(error: Exception) -> bool:
    """True if memory was short, as Python or torch says it."""
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or "alloc" in str(error).lower()
