"""The one loop: draft, verify, commit, emit. Every mode is this loop with other parts."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from engine.decoding.schedule import Schedule
from engine.decoding.sequence import TokenSequence
from engine.decoding.statistics import ReplyClock
from engine.drafting.drafter import Drafter
from engine.messages import RoundRecord
from engine.model.sampling import PENALTY_WINDOW
from engine.model.token_tree import ROOT, Draft, DraftShape
from engine.text.stop import ReplyText
from engine.verifying.verdict import Verifier

_NOTHING = Draft()
# Near a reply's limit a draft has at most so many rows for each token that may still be emitted: a tree has several.
_ROWS_FOR_EACH = 8


@dataclass(frozen=True)
class Recipe:
    """The parts that a mode puts into the loop; its placement is already inside the sequence's target."""

    drafter: Drafter
    verifier: Verifier
    schedule: Schedule


@dataclass(frozen=True)
class Hooks:
    """Receiver of the loop's reports.

    Attributes:
        check: Called between layers and rounds; raises `Cancelled` to stop.
        prefill: Tokens of the prompt done, and in all.
        emitted: Called after each round with the tokens it emitted and how many of them, the first ones, were drafted.
    """

    check: Callable[[], None]
    prefill: Callable[[int, int], None]
    emitted: Callable[[Sequence[int], int], None]


def decode(
    sequence: TokenSequence,
    recipe: Recipe,
    prompt: Sequence[int],
    reply: ReplyText,
    clock: ReplyClock,
    hooks: Hooks,
) -> Iterator[None]:
    """Continue a prompt until the reply ends: a chunk of the prompt or a round for each step.

    Between two steps other sequences of the same target may take theirs.

    The root, the token sampled last, is always emitted already and not yet in the cache. Each round's forward reads
    the root together with the draft; the accepted path is cut where the reply ends, and only what lies before the
    cut is committed.

    Args:
        sequence: The text, its cache as an earlier reply left it.
        recipe: Drafter, verifier and schedule.
        prompt: Token ids; at least one, and fewer than the context holds.
        reply: Takes the tokens and says where the reply ends.
        clock: Counts.
        hooks: Progress and cancel.

    Raises:
        Cancelled: by ``hooks.check``. Sequence and reply are valid and hold what was emitted until then.
    """
    clock.members = recipe.drafter.members
    hidden_from = recipe.drafter.reset(prompt)
    clock.cache_n = sequence.reuse(prompt, recipe.drafter.hidden_layers, hidden_from)
    clock.prompt_n = len(prompt) - clock.cache_n
    first_logits = yield from sequence.read(prompt, hooks.check, hooks.prefill, recipe.drafter.draft_ahead)
    clock.prompt_done()

    position, recent, probes = len(prompt), array("i", prompt[-PENALTY_WINDOW:]), None
    verdict = recipe.verifier.verify(_NOTHING, first_logits[None], position, recent)
    emitted, goes_on = _take(verdict.tokens, reply)
    clock.emitted(len(emitted))
    hooks.emitted(emitted, 0)
    while goes_on and sequence.free > 0:
        yield
        hooks.check()
        root = reply.token_ids[-1]
        position += len(verdict.tokens)
        recent.extend(verdict.tokens)
        del recent[:-PENALTY_WINDOW]
        begun = time.perf_counter()
        hidden = sequence.take_hidden() if recipe.drafter.wants_hidden else None
        recipe.drafter.observe(verdict.tokens, hidden, probes)
        proposed = recipe.drafter.propose(_shape(recipe.schedule, reply, sequence))
        draft = recipe.schedule.choose(proposed)
        drafted, waited_s = time.perf_counter(), sequence.waited_s
        logits = sequence.verify(root, draft, hooks.check, recipe.drafter.draft_ahead)
        verdict = recipe.verifier.verify(draft, logits, position, recent)
        # Between two forwards each call counts: nothing of Python is in the processor's caches then.
        probes = None
        if draft.probes.nodes:
            probes = sequence.probe_logits(draft.probe_rows(verdict.nodes[-1] if verdict.nodes else ROOT))
        verified = time.perf_counter()

        emitted, goes_on = _take(verdict.tokens, reply)
        record = RoundRecord(
            position=position,
            tokens=draft.tokens,
            parents=draft.parents,
            scores=draft.scores,
            probes=draft.probes.nodes,
            sources=draft.sources,
            weights=recipe.drafter.weights,
            accepted=verdict.nodes,
            emitted=tuple(emitted),
            draft_ms=(drafted - begun) * 1e3,
            verify_ms=(verified - drafted) * 1e3,
            waited_ms=(sequence.waited_s - waited_s) * 1e3,
        )
        clock.round_done(record)
        recipe.schedule.observe(record)
        clock.emitted(len(emitted))
        hooks.emitted(emitted, min(len(emitted), len(verdict.nodes)))
        # The newest token becomes the root, so the rows to keep are the old root's and those of the emitted tokens
        # but the last.
        kept = len(emitted) - 1
        sequence.commit([root, *verdict.tokens[:kept]], [0, *(node + 1 for node in verdict.nodes[:kept])])
    if goes_on:
        reply.close("length")


def _shape(schedule: Schedule, reply: ReplyText, sequence: TokenSequence) -> DraftShape:
    """The schedule's shape, cut to what fits beside the root in the cache and to what so many tokens may need."""
    shape, rows = schedule.shape(), sequence.draft_room
    if reply.remaining is not None:
        rows = min(rows, _ROWS_FOR_EACH * (reply.remaining - 1))
    return shape if shape.rows <= rows else shape.at_most(rows)


def _take(tokens: Sequence[int], reply: ReplyText) -> tuple[list[int], bool]:
    """Hand tokens to the reply until it ends; returns those it took and whether it goes on."""
    taken: list[int] = []
    for token in tokens:
        taken.append(token)
        if not reply.add(token):
            return taken, False
    return taken, True
