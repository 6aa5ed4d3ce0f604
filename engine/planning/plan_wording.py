"""Words of a plan: where things live, and why a mode was taken."""

from __future__ import annotations

import torch

from engine.planning.load_plan import LoadPlan
from engine.planning.mode_plan import ModePlan
from engine.sentences import figure, say


def summary(load: LoadPlan) -> str:
    """Places of target and draft, in a few words."""
    where = load.placement.summary()
    if load.weights.cache == torch.int8:
        where = say("{where}, 8-bit cache (lossy)", where=where)
    if load.draft is None:
        return where
    if load.draft.on_gpu:
        return say("draft on the GPU, {where}", where=where)
    return say("draft on the CPU, {where}", where=where)


def reason(chosen: ModePlan | None, plain: ModePlan) -> str:
    """Reason why ``auto`` takes a mode."""
    if chosen is None:
        return plain.refusal or say("No mode that this version has can run this model here.")
    rate = chosen.tokens_per_second or 0.0
    speed = f"{figure(rate, '.0f' if rate >= 100 else '.2g')} tok/s"
    if chosen.mode == "plain":
        return say(
            "Auto: plain, predicted at {speed}; no other mode is predicted to be faster here.", speed=speed
        )
    if plain.tokens_per_second is None:
        return say(
            "Auto: {mode}, predicted at {speed} ({summary}).",
            mode=say(chosen.mode),
            speed=speed,
            summary=chosen.summary,
        )
    times = figure(rate / plain.tokens_per_second, ".1f")
    as_fast = times == figure(1.0, ".1f")
    return say(
        "Auto: {mode}, predicted at {speed}, {times} ({summary}).",
        mode=say(chosen.mode),
        speed=speed,
        times=say("as fast as plain") if as_fast else say("{times} times plain", times=times),
        summary=chosen.summary,
    )
