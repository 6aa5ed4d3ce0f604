"""Replies of one model side by side: each turn is one forward over the rows of all that have some ready.

Requests join and leave between two forwards (continuous batching, Yu et al. 2022, "Orca", section 3.1), and a prompt is
read in pieces that share forwards with other requests' rounds.

Drafts on a device of their own are made beside the target's forwards (Minions, Wang et al. 2024, section 3.4):
finished ones wait in a pool until the target takes them. It verifies half of the open replies at a time, and no
more drafts are begun while as many wait. During a forward the drafters that can also continue the drafts that it
verifies; they drop the parts that the verdict contradicts, by its prefix.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import torch

from engine.decoding.sequence import AskedRows
from engine.errors import Cancelled

Result = TypeVar("Result")
Steps = Generator[AskedRows | Future[Any] | None, None, None]
"""A request in steps: each asks for rows, and goes on when they are computed; one that waits for something else goes on
when that is there, and None goes on next."""

# Rows of prompts in a forward: beside rounds, which wait for it, and without any.
_BESIDE_ROUNDS = 64
_MOST_PIECES = 512
# Longest wait for a draft until it is checked whether a request is to stop, and for work beside the engine's turns
# until it is checked whether another request has come.
_LOOK_S, _PREPARING_LOOK_S = 0.05, 0.002


@dataclass(eq=False)
class _Open:
    request_id: str
    steps: Steps
    asked: AskedRows | None = None
    draft: Future[Callable[[], None]] | None = None  # on its way, or made and not taken yet
    waits: bool = False  # waits for memory, until another one ends
    awaited: Future[Any] | None = None  # made beside the turns

    @property
    def ready(self) -> bool:
        """True if it has rows to compute."""
        if self.asked is None or self.waits:
            return False
        return self.asked.make_draft is None or (self.draft is not None and self.draft.done())


class Scheduler:
    """Open requests in the order they came.

    Args:
        check: Raises `Cancelled` if the request whose turn it is has to stop.
        go_on: Called whenever layers are computed, and while requests are prepared, which has bounds of its own.
    """

    def __init__(self, check: Callable[[], None], go_on: Callable[[], None] = lambda: None) -> None:
        self._turns = threading.local()
        self._check = check
        self._go_on = go_on
        self._drafting: ThreadPoolExecutor | None = None
        self._open: list[_Open] = []
        self._computing: list[_Open] = []

    def __len__(self) -> int:
        return len(self._open)

    @property
    def running(self) -> str:
        """Id of the request whose turn it is on this thread."""
        found: str = getattr(self._turns, "running", "")
        return found

    @running.setter
    def running(self, request_id: str) -> None:
        self._turns.running = request_id

    def add(self, request_id: str, steps: Steps) -> None:
        """Let a request begin with the next turn."""
        self._open.append(_Open(request_id, steps))

    def turn(self) -> None:
        """Let each request get to its next forward, and compute one for all."""
        for one in tuple(self._open):
            if one.asked is None and (one.awaited is None or one.awaited.done()):
                self._advance(one)
        self._computing = self._chosen()
        for one in tuple(self._open):
            if one not in self._computing:
                self._check_one(one)
        for one in tuple(self._computing):
            self._take_draft(one)
        self._begin_drafts()
        asked = [one.asked for one in self._computing if one.asked is not None]
        if not asked:
            beside = [one.awaited for one in self._open if one.awaited is not None]
            drafts = [one.draft for one in self._open if one.draft is not None]
            if beside:
                self._go_on()
            wait((*beside, *drafts), _PREPARING_LOOK_S if beside else _LOOK_S, FIRST_COMPLETED)
            return
        target = asked[0].sequence.target
        target.width.replies = len(self._open)
        target.width.divide(asked)
        ahead = self._draft_ahead()
        try:
            target.compute(asked, self._check_all)
        except BaseException as error:
            if len(self._computing) > 1 and _is_short_memory(error):
                self._hold_back()
                return
            self._throw(error)
        else:
            first = asked[0]
            if first.beside and all(one.draft is not None for one in asked):
                target.width.observe(first.rows + first.beside, first.seconds, first.waited_s)
        finally:
            ahead()
        for one in self._computing:
            one.asked = None
        self._computing = []

    def _chosen(self) -> list[_Open]:
        """Return the requests with rows in the next forward: pieces of prompts, the oldest first, and all rounds."""
        rounds: list[_Open] = []
        pieces: list[_Open] = []
        for one in self._open:
            if one.asked is not None and one.ready:
                (pieces if one.asked.draft is None else rounds).append(one)
        if any(one.draft is not None for one in rounds):
            rounds = rounds[: self._batch]
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

    @property
    def _batch(self) -> int:
        """Number of replies whose drafts the target verifies at a time, while the others' are made."""
        return (len(self._open) + 1) // 2

    def _begin_drafts(self) -> None:
        """Begin drafts while fewer are being made, or wait, than the target takes."""
        waiting = sum(one.draft is not None and one not in self._computing for one in self._open)
        for one in self._open:
            if one.asked is not None and one.asked.make_draft and not one.draft and waiting < self._batch:
                one.draft = self._beside(one, one.asked.make_draft)
                waiting += 1

    def _take_draft(self, one: _Open) -> None:
        """Turn a finished draft into the rows that its reply asks for."""
        if one.asked is None or one.draft is None:
            return
        try:
            one.asked.make_draft = None
            one.draft.result()()
        except BaseException as error:
            self._end(one, error)

    def _draft_ahead(self) -> Callable[[], None]:
        """Continue drafts while they are verified; return a function that ends this."""
        over = threading.Event()
        drafted = [one for one in self._computing if one.draft is not None]
        for one in drafted:
            one.draft = None
        steps = [one.asked.on_wait for one in drafted if one.asked and not one.asked.sequence.streams]
        if not steps:
            return lambda: None

        def go_on() -> None:
            while not over.is_set() and sum(step() for step in steps):
                pass

        drafting = self._beside(drafted[0], go_on)

        def end() -> None:
            over.set()
            if not drafting.cancel():
                with suppress(Cancelled):  # the forward sees it too
                    drafting.result()

        return end

    def _beside(self, one: _Open, work: Callable[[], Result]) -> Future[Result]:
        """Do a request's work on the thread that drafts."""
        if self._drafting is None:
            self._drafting = ThreadPoolExecutor(1, "tenon-drafts")

        def run() -> Result:
            self.running = one.request_id
            with torch.inference_mode():
                return work()

        return self._drafting.submit(run)

    def end_drafting(self) -> None:
        """End the thread that drafts, which has scratch memory of its own; the next draft begins another."""
        if self._drafting is not None:
            self._drafting.shutdown()
            self._drafting = None

    def _hold_back(self) -> None:
        """Let the newest request wait without its cache if memory is short; the others try again."""
        newest = max(self._computing, key=self._open.index)
        newest.waits = True
        if newest.asked is not None:
            newest.asked.sequence.release()
        self._computing = []

    def _close(self, one: _Open) -> None:
        """End a request, whose memory may suffice for those that wait."""
        self._open.remove(one)
        for other in self._open:
            other.waits = False

    def _advance(self, one: _Open) -> None:
        self.running = one.request_id
        try:
            self._put(one, next(one.steps))
        except StopIteration:
            self._close(one)

    def _put(self, one: _Open, step: AskedRows | Future[Any] | None) -> None:
        one.asked, one.awaited = (None, step) if isinstance(step, Future) else (step, None)

    def _throw(self, error: BaseException) -> None:
        """Tell the requests that wait for the forward that it failed."""
        for one in self._computing:
            self._end(one, error)

    def _end(self, one: _Open, error: BaseException) -> None:
        self.running = one.request_id
        self._computing = [other for other in self._computing if other is not one]
        if one.draft is not None and not one.draft.cancel():
            wait([one.draft])  # its text is another reply's next
        one.draft = None
        try:
            self._put(one, one.steps.throw(error))
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
        """End requests that are to stop; the forward goes on for the others, and ends if there are none."""
        self._go_on()
        for one in tuple(self._computing):
            self._check_one(one)
        if not self._computing:
            raise Cancelled("")


def _is_short_memory(error: BaseException) -> bool:
    """Return whether memory was short, as Python or torch says it."""
    said = str(error).lower()
    return isinstance(error, MemoryError) or "alloc" in said or "out of memory" in said
