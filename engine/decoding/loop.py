"""The one loop: draft, verify, commit, emit. Every mode is this loop with other parts."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from torch import Tensor

from engine.decoding.sequence import AskedRows, PromptReading, TokenSequence
from engine.decoding.statistics import ReplyClock
from engine.drafting.drafter import Drafter
from engine.drafting.schedule import Schedule
from engine.messages import RoundRecord
from engine.model.token_tree import ROOT, Draft, DraftShape
from engine.text.stop import ReplyText
from engine.verifying import Verdict, Verifier

_NOTHING = Draft()
# Near a reply's limit a draft has at most so many rows per token that may still be emitted, since a tree needs
# several.
_ROWS_FOR_EACH = 8


@dataclass(frozen=True)
class Recipe:
    """The parts that a mode puts into the loop; its placement is already inside the sequence's target."""

    drafter: Drafter
    verifier: Verifier
    schedule: Schedule


@dataclass(frozen=True)
class Hooks:
    """Functions that the loop reports to."""

    check: Callable[[], None]  # called between layers and rounds; raises `Cancelled` to stop
    prefill: Callable[[int, int], None]  # called with the prompt's tokens that are done, and with all of them
    # Called after each round with the tokens it emitted and how many of them, the first ones, were drafted
    emitted: Callable[[Sequence[int], int], None]


class Decoding:
    """One reply in progress: each step reads a piece of its prompt or is a round.

    Between two steps other texts of the same target may take theirs, or share a forward with it: `ask` and `take`
    are the two halves of a step, before and after the forward. As an iterator it takes its steps by itself.

    The root, the token sampled last, is always emitted already and not yet in the cache. Each round's forward reads
    the root together with the draft; the accepted path is cut where the reply ends, and only the part before the
    cut is committed.

    Args:
        sequence: Text with its cache, as an earlier reply left it.
        recipe: Drafter, verifier and schedule.
        prompt: Token ids; at least one, and fewer than the context holds.
        reply: Takes the tokens and says where the reply ends.
        clock: Statistics of the reply.
        hooks: Callbacks for progress and cancel. ``hooks.check`` may raise `Cancelled` in any step; sequence and
            reply are valid then and hold what was emitted until then.
        words: The prompt as drafter and verifier see it, of tokens alone; None if it has no pictures.
    """

    def __init__(
        self,
        sequence: TokenSequence,
        recipe: Recipe,
        prompt: Sequence[int],
        reply: ReplyText,
        clock: ReplyClock,
        hooks: Hooks,
        words: Sequence[int] | None = None,
    ) -> None:
        self._sequence = sequence
        self._recipe = recipe
        self._prompt = prompt
        self._reply = reply
        self._clock = clock
        self._hooks = hooks
        self._reading: PromptReading | None = None
        self._verdict: Verdict | None = None
        self._position = len(prompt)
        self._words = prompt if words is None else words
        self._text = array("i", self._words)
        self._probes: Tensor | None = None
        self._drafted_s = 0.0
        self._ended = False

    def __iter__(self) -> Iterator[None]:
        return self

    def __next__(self) -> None:
        asked = self.ask()
        if asked is None:
            raise StopIteration
        self._sequence.target.compute([asked], self._hooks.check)
        self.take(asked)

    def ask(self) -> AskedRows | None:
        """Return the rows of the next step, or None if the reply has ended."""
        if self._ended:
            return None
        if self._verdict is not None:
            return self._draft(self._verdict)
        if self._reading is None:
            sequence, drafter, clock = self._sequence, self._recipe.drafter, self._clock
            clock.members = drafter.members
            hidden_from = drafter.reset(self._words)
            clock.cache_n = sequence.reuse(self._prompt, drafter.hidden_layers, hidden_from)
            clock.prompt_n = len(self._prompt) - clock.cache_n
            self._reading = PromptReading(sequence, self._prompt, self._hooks.prefill, drafter.draft_ahead)
        return self._reading.ask()

    def take(self, asked: AskedRows) -> None:
        """Go on with the results of the forward for the rows that were asked for."""
        if asked.draft is not None:
            self._verify(asked, asked.draft)
        elif self._reading is not None:
            ended = self._reading.take(asked)
            drafter, sequence = self._recipe.drafter, self._sequence
            drafter.read_prompt(len(sequence.token_ids), sequence.take_hidden() if drafter.reads_hidden else None)
            if not ended:
                return
            self._clock.prompt_done()
            self._verdict = self._recipe.verifier.verify(_NOTHING, asked.logits, self._position, self._text)
            emitted, goes_on = _take(self._verdict.tokens, self._reply)
            self._clock.emitted(len(emitted))
            self._hooks.emitted(emitted, 0)
            self._settle(goes_on)

    def _draft(self, verdict: Verdict) -> AskedRows:
        recipe, sequence = self._recipe, self._sequence
        self._hooks.check()
        root = self._reply.token_ids[-1]
        self._position += len(verdict.tokens)
        self._text.extend(verdict.tokens)
        begun = time.perf_counter()
        hidden = sequence.take_hidden() if recipe.drafter.wants_hidden else None
        schedule, width = recipe.schedule, sequence.target.width
        shape = schedule.shape_beside(width.tokens_per_s, width.row_s) if width.shares else schedule.shape()
        shape = _fitting(shape, self._reply, sequence)
        taken_s = time.perf_counter() - begun
        asked = AskedRows(sequence, (root,), _NOTHING, on_wait=recipe.drafter.draft_ahead)

        def make() -> Callable[[], None]:
            begun = time.perf_counter()
            recipe.drafter.observe(verdict.tokens, hidden, self._probes)
            draft = recipe.drafter.propose(shape)
            made_s = time.perf_counter() - begun
            return lambda: choose(draft, made_s)

        def choose(draft: Draft, made_s: float) -> None:
            begun = time.perf_counter()
            if width.shares:
                asked.chances = schedule.chances(draft)
            else:
                draft = schedule.choose(draft)
            asked.draft, asked.tokens = draft, (root, *draft.tokens)
            self._drafted_s = taken_s + made_s + time.perf_counter() - begun

        asked.make_draft = make
        if not recipe.drafter.apart:
            asked.made()
        return asked

    def _verify(self, asked: AskedRows, draft: Draft) -> None:
        recipe, sequence = self._recipe, self._sequence
        begun = time.perf_counter()
        verdict = recipe.verifier.verify(draft, asked.logits, self._position, self._text)
        # Between two forwards each call counts: none of Python's code is in the processor's caches then.
        self._probes = None
        if draft.probes.nodes:
            self._probes = sequence.probe_logits(draft.probe_rows(verdict.nodes[-1] if verdict.nodes else ROOT))
        verify_s = asked.seconds + time.perf_counter() - begun

        emitted, goes_on = _take(verdict.tokens, self._reply)
        record = RoundRecord(
            position=self._position,
            tokens=draft.tokens,
            parents=draft.parents,
            scores=draft.scores,
            probes=draft.probes.nodes,
            sources=draft.sources,
            weights=recipe.drafter.weights,
            accepted=verdict.nodes,
            emitted=tuple(emitted),
            draft_ms=self._drafted_s * 1e3,
            verify_ms=verify_s * 1e3,
            waited_ms=asked.waited_s * 1e3,
            beside=asked.beside,
        )
        self._verdict = verdict
        self._clock.round_done(record)
        recipe.schedule.observe(record)
        self._clock.emitted(len(emitted))
        self._hooks.emitted(emitted, min(len(emitted), len(verdict.nodes)))
        # The newest token becomes the root, so the rows to keep are the old root's and those of the emitted tokens
        # but the last.
        kept = len(emitted) - 1
        sequence.commit([asked.tokens[0], *verdict.tokens[:kept]], [0, *(node + 1 for node in verdict.nodes[:kept])])
        self._settle(goes_on)

    def _settle(self, goes_on: bool) -> None:
        """End the reply if its text ended or the cache is full."""
        self._ended = not goes_on or self._sequence.free <= 0
        if self._ended and goes_on:
            self._reply.close("length")


def _fitting(shape: DraftShape, reply: ReplyText, sequence: TokenSequence) -> DraftShape:
    """Return the shape, cut to the rows that fit into the cache beside the root and that the reply may still need."""
    rows = sequence.draft_room
    if reply.remaining is not None:
        rows = min(rows, _ROWS_FOR_EACH * (reply.remaining - 1))
    return shape if shape.rows <= rows else shape.at_most(rows)


def _take(tokens: Sequence[int], reply: ReplyText) -> tuple[list[int], bool]:
    """Hand tokens to the reply until it ends; return those that it took and whether it goes on."""
    taken: list[int] = []
    for token in tokens:
        taken.append(token)
        if not reply.add(token):
            return taken, False
    return taken, True
