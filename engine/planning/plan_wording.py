"""What a plan says in words: where things live, why a mode was taken, and why another cannot run."""

from __future__ import annotations

from engine.planning.mode_plan import ModePlan
from engine.planning.placing import Placing
from engine.sizes import readable

NO_GPU = "There is no GPU that Tenon can use here."
NO_LAYERS_WANTED = "It needs layers on the GPU, and the setting for GPU layers is 0."
NO_DRAFT = (
    "It needs a draft: name a small model of the same vocabulary, or a head that was made for this model."
)
HEAD_CANNOT = "It needs a small model as its draft: a head cannot go on while the model is on its way."
FITS = "It is for models larger than memory, and this one fits."
NOTHING_TO_COPY = "Every layer fits on the GPU, so that none would have to be copied there."
NO_ROOM_IN_POOL = "The GPU shares the host's memory, which has no room for what both would need."


def no_room(least_bytes: int, free_bytes: int, beside: str = "") -> str:
    """Why a model cannot run at all.

    Args:
        least_bytes: What it needs at least.
        free_bytes: What there is.
        beside: What else takes memory, as in " beside its draft".
    """
    return (
        f"It needs {readable(least_bytes)} of memory{beside} even when its layers are read from the disk, and "
        f"{readable(free_bytes)} are free."
    )


def not_one_layer(free_bytes: int) -> str:
    """Why nothing of a model can be on a GPU."""
    return f"Not even one layer fits into what is free of the GPU's memory, {readable(free_bytes)}."


def no_room_beside_gpu(free_bytes: int) -> str:
    """Why a model cannot be shared between a GPU and the host."""
    return f"What does not fit on the GPU must be in memory, and {readable(free_bytes)} are free there."


def no_disk(needed_bytes: int, free_bytes: int) -> str:
    """Why a model's files have no place."""
    return (
        f"Its files need {readable(needed_bytes)} of disk, and {readable(free_bytes)} are free: make room, "
        "or choose a smaller model."
    )


def summary(name: str, placing: Placing, layers: int, draft_on_gpu: bool) -> str:
    """Where things live, in a few words."""
    plan = placing.plan
    if plan.kind == "stream":
        where = f"{plan.pinned_layers} of {layers} layers in memory, the others read from the disk"
    elif plan.kind == "layer-offload":
        where = f"{plan.device_layers} of {layers} layers on the GPU, the others copied there as needed"
    elif plan.device_layers == layers:
        where = f"all {layers} layers on the GPU"
    elif plan.device_layers:
        where = f"{plan.device_layers} of {layers} layers on the GPU, the others in memory"
    else:
        where = "all in memory"
    if name in ("dovetail", "llmcad"):
        return f"draft {'on the GPU' if draft_on_gpu else 'on the CPU'}, {where}"
    return where


def reason(chosen: ModePlan | None, plain: ModePlan) -> str:
    """Why ``auto`` takes a mode."""
    if chosen is None:
        return plain.refusal or "No mode that this version has can run this model here."
    rate = chosen.tokens_per_second or 0.0
    speed = f"{rate:.0f} tok/s" if rate >= 100 else f"{rate:.2g} tok/s"
    if chosen.mode == "plain":
        return f"Auto: plain, predicted at {speed}; no other mode is predicted to be faster here."
    if plain.tokens_per_second is None:
        return f"Auto: {chosen.mode}, predicted at {speed} ({chosen.summary})."
    times = rate / plain.tokens_per_second
    return f"Auto: {chosen.mode}, predicted at {speed}, {times:.2g} times plain's ({chosen.summary})."
