"""Runs the loop without an engine around it: a target, a drafter, token ids in and out."""

from __future__ import annotations

from collections.abc import Sequence

from engine.decoding.loop import Hooks, Recipe, decode
from engine.decoding.schedule import FixedShape
from engine.decoding.statistics import ReplyClock
from engine.decoding.target import Target
from engine.drafting.drafter import Drafter
from engine.messages import Timings
from engine.model.sampling import Sampler
from engine.model.token_tree import DraftShape
from engine.text.stop import ReplyText
from engine.verifying.sample_and_match import SampleAndMatch


def run_reply(
    target: Target,
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
    decode(target, Recipe(drafter, rule, FixedShape(DraftShape(nodes))), prompt, reply, clock, hooks)
    return reply.token_ids, clock.timings()
