"""A reply that is known already, decoded again on a machine with a clock of its own: what drafting gains and loses."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.drafting.drafter import Drafter
from engine.drafting.schedule import Schedule
from engine.messages import RoundRecord
from engine.model.token_tree import ROOT, Draft


@dataclass(frozen=True)
class Replayed:
    """Time of a replay, in the same unit as plain decoding's."""

    seconds: float
    plain_seconds: float
    rounds: tuple[RoundRecord, ...]

    @property
    def speedup(self) -> float:
        """Plain decoding's time over this one."""
        return self.plain_seconds / self.seconds


def replay(
    prompt: Sequence[int],
    reply: Sequence[int],
    drafter: Drafter,
    schedule: Schedule,
    forward_s: Callable[[int], float],
    noise: float = 0.0,
    seed: int = 0,
    draft_s: Callable[[Draft], float] = lambda draft: 0.0,
    pushed_out_s: float = 0.0,
) -> Replayed:
    """Decode a reply that is known.

    Sample-and-match draws a position's token whatever was drafted there, so what a draft would have had accepted can be
    read off the text that plain decoding gave.

    Args:
        prompt: Token ids.
        reply: The tokens that the target says.
        drafter: Drafts.
        schedule: Chooses.
        forward_s: Seconds of a forward by its rows.
        noise: Each forward takes up to this share longer, as the schedule sees it and as it counts.
        seed: Of the noise.
        draft_s: Seconds that the drafter took for this; what it drafts by itself takes none.
        pushed_out_s: Seconds that a forward takes longer where a network has drafted.
    """
    chance = random.Random(seed)
    drafter.reset(prompt)
    drafter.observe(reply[:1], None)
    at, seconds, rounds = 1, 0.0, []
    while at < len(reply):
        proposed = drafter.propose(schedule.shape())
        draft = schedule.choose(proposed)
        accepted = accepted_path(draft, reply[at : len(reply) - 1])
        drafted_s = draft_s(proposed)
        taken_s = forward_s(len(draft) + 1) * (1 + noise * chance.random())
        taken_s += pushed_out_s if proposed.steps else 0.0
        emitted = tuple(reply[at : at + len(accepted) + 1])
        record = RoundRecord(
            *(len(prompt) + at, draft.tokens, draft.parents, draft.scores, accepted, emitted),
            *(drafted_s * 1e3, taken_s * 1e3),
        )
        schedule.observe(record)
        drafter.observe(emitted, None)
        rounds.append(record)
        seconds += drafted_s + taken_s
        at += len(emitted)
    return Replayed(seconds, (len(reply) - 1) * forward_s(1) * (1 + noise / 2), tuple(rounds))


def accepted_path(draft: Draft, text: Sequence[int]) -> tuple[int, ...]:
    path: list[int] = []
    node = ROOT
    for token in text:
        child = draft.children[node + 1].get(token)
        if child is None:
            break
        path.append(child)
        node = child
    return tuple(path)
