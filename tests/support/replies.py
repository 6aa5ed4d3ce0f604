"""Runs the loop without an engine around it: a target, a drafter, token ids in and out."""

from __future__ import annotations

from collections.abc import Sequence

from engine.decoding.loop import Decoding, Hooks, Recipe
from engine.decoding.sequence import TokenSequence
from engine.decoding.statistics import ReplyClock
from engine.drafting.drafter import Drafter
from engine.drafting.schedule import FixedShape
from engine.messages import Timings
from engine.model.sampling import Sampler
from engine.model.token_tree import DraftShape
from engine.text.stop import ReplyText
from engine.verifying import SampleAndMatch


def run_reply(
    sequence: TokenSequence,
    drafter: Drafter,
    prompt: Sequence[int],
    count: int,
    nodes: int = 16,
    sampler: Sampler | None = None,
) -> tuple[list[int], Timings]:
    """``count`` tokens after a prompt, drafting ``nodes`` each round; greedy where no sampler is given."""
    reply = ReplyText(lambda ids: "", frozenset(), (), count)
    clock = ReplyClock()
    hooks = Hooks(lambda: None, lambda done, total: None, lambda *emitted: None)
    rule = SampleAndMatch(sampler or Sampler(temperature=0.0))
    recipe = Recipe(drafter, rule, FixedShape(DraftShape(nodes)))
    for _ in Decoding(sequence, recipe, prompt, reply, clock, hooks):
        pass
    return reply.token_ids, clock.timings()
