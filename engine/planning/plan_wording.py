"""What a plan says in words: where things live, why a mode was taken, and why another cannot run."""

from __future__ import annotations

import torch

from engine.planning.load_plan import LoadPlan
from engine.planning.mode_plan import ModePlan
from engine.sentences import figure, mark, say
from engine.sizes import readable

NO_GPU = mark("There is no GPU that Tenon can use here.")
NO_DRAFT = mark(
    "It needs a draft: name a small model of the same vocabulary, or a head that was made for this model."
)
UNTRIED_DRAFT = mark(
    "A mode with a draft may be faster, and is taken once replies have shown what the draft is worth here: measure "
    "every mode, or choose one with a draft for a chat."
)
NO_ROOM_IN_POOL = mark("The GPU and the CPU share one memory, which has no room for what both would need.")


def no_room(least_bytes: int, free_bytes: int, beside_draft: bool = False) -> str:
    """Why a model cannot run at all.

    Args:
        least_bytes: What it needs at least.
        free_bytes: What there is.
        beside_draft: Whether its draft takes memory too.
    """
    least, free = readable(least_bytes), readable(free_bytes)
    if beside_draft:
        return say(
            "It needs {least} of memory beside its draft even when its layers are read from the disk, and {free} are "
            "free.",
            least=least,
            free=free,
        )
    return say(
        "It needs {least} of memory even when its layers are read from the disk, and {free} are free.",
        least=least,
        free=free,
    )


def not_one_layer(free_bytes: int) -> str:
    """Why nothing of a model can be on a GPU."""
    return say(
        "Not even one layer fits into what is free of the GPU's memory, {free_bytes}.",
        free_bytes=readable(free_bytes),
    )


def no_room_beside_gpu(free_bytes: int) -> str:
    """Why a model cannot be shared between a GPU and the host."""
    return say(
        "The part that does not fit on the GPU must be in memory, and {free_bytes} are free there.",
        free_bytes=readable(free_bytes),
    )


def no_disk(needed_bytes: int, free_bytes: int) -> str:
    """Why a model's files have no place."""
    return say(
        "Its files need {needed_bytes} of disk, and {free_bytes} are free: make room, or "
        "choose a smaller model.",
        needed_bytes=readable(needed_bytes),
        free_bytes=readable(free_bytes),
    )


def summary(load: LoadPlan) -> str:
    """Where things live, in a few words."""
    where = load.placement.summary()
    if load.weights.cache == torch.int8:
        where = say("{where}, 8-bit cache (lossy)", where=where)
    if load.draft is None:
        return where
    if load.draft.on_gpu:
        return say("draft on the GPU, {where}", where=where)
    return say("draft on the CPU, {where}", where=where)


def reason(chosen: ModePlan | None, plain: ModePlan) -> str:
    """Why ``auto`` takes a mode."""
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
