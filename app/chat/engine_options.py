"""Requests to the engine, made from the settings, and the values that a loaded model really works with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from app.chat.conversation import ConversationOptions
from app.settings.settings import Settings
from engine.messages import (
    LoadOptions,
    ModelAdvice,
    ModelReport,
    Reply,
    SamplingOptions,
    Thinking,
)
from engine.modes import MODES, OFF, mode_options, named_drafts

#: Settings that a model's makers may advise; without a value of the user's that advice holds, else what is usual.
ADVISED = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty")

# Settings whose value in use is told; of all others it is the applied one, where there is one.
TOLD = frozenset({
    "context", "weights", "kv_cache", "threads", "ram_budget_bytes", "vram_budget_bytes", "drafts",
    "gpu_layers", "language", *ADVISED,
})  # fmt: skip


def load_options(settings: Settings, ref: str | None = None, own: ConversationOptions | None = None) -> LoadOptions:
    """Load options for a model, as the settings are now for it.

    Args:
        ref: Another model than the chosen one; its own drafts go along.
        own: Options of the chat that come before the settings.
    """
    model = settings.model if ref is None else ref
    settings, own = settings.of_model(model), own or ConversationOptions()
    chosen = {name: settings.values.get(name) for name in mode_options()}
    return LoadOptions(
        model=model,
        drafts=settings.drafts_of(model) if own.drafts is None else own.drafts,
        memory=settings.memory if own.memory is None else own.memory,
        mode_options={name: value for name, value in chosen.items() if value is not None},
        weights=settings.weights,
        kv_cache=settings.kv_cache,
        threads=settings.threads or None,
        context=settings.context or None,
        ram_budget_bytes=settings.ram_budget_bytes,
        vram_budget_bytes=settings.vram_budget_bytes,
        graphics_chip=settings.graphics_chip,
        gpu_layers=settings.gpu_layers,
    )


def planned(options: LoadOptions) -> LoadOptions:
    """Options that a plan depends on: those that differ in nothing else have the same plan."""
    named = named_drafts(options.drafts)
    return replace(options, drafts=named, insists=False, memory=LoadOptions.memory, mode_options={}, threads=None)


@dataclass(frozen=True)
class ReplyOptions:
    """Request for one reply of a loaded model; see `Generate`."""

    system_prompt: str
    max_tokens: int | None
    sampling: SamplingOptions
    verify: str
    stop_loops: bool
    thinking: Thinking = field(default_factory=Thinking)


def reply_options(settings: Settings, ref: str, own: ConversationOptions) -> ReplyOptions:
    """Return the options of a reply: the conversation's own, then its model's, then those for all."""
    settings = settings.of_model(ref)
    sampling = SamplingOptions(**{one.name: getattr(settings, one.name) for one in fields(SamplingOptions)})
    return ReplyOptions(
        system_prompt=settings.system_prompt if own.system_prompt is None else own.system_prompt,
        max_tokens=(settings.max_tokens if own.max_tokens is None else own.max_tokens) or None,
        sampling=own.sampling_over(sampling),
        verify=settings.verify,
        stop_loops=settings.stop_loops,
        thinking=own.thinking,
    )


@dataclass(frozen=True)
class InForce:
    """One number."""

    value: float
    # ``set`` by the user, advised by the model's ``makers``, ``usual`` where they advise none, or what
    # ``greedy`` replies leave out
    origin: Literal["set", "makers", "usual", "greedy"]


def sampling_in_force(chosen: Mapping[str, Any], advice: ModelAdvice) -> dict[str, InForce]:
    """Every number by its setting's name, as engine/advice.py settles them; None in ``chosen`` is nothing chosen."""
    found = {}
    for name in ADVISED:
        value = chosen[name]
        if value is not None:
            found[name] = InForce(value, "set")
        elif name == "repetition_penalty" and chosen["temperature"] == 0.0:
            found[name] = InForce(1.0, "greedy")
        else:
            advised = getattr(advice.sampling, name)
            if advised is not None:
                found[name] = InForce(advised, "makers" if name in advice.own else "usual")
    return found


def settings_in_use(report: ModelReport | None, options: LoadOptions | None, reply: Reply | None) -> dict[str, Any]:
    """Values by the names of settings, the model's last reply among them; what the engine does not tell is left out.

    Options of modes are those that the mode takes where none is chosen.
    """
    if report is None or options is None:
        return {}
    mode = None if reply is None else MODES.get(reply.mode)
    usual = {} if mode is None else mode.values({})
    in_use: dict[str, Any] = {
        **usual,
        "context": report.context,
        "weights": report.weights,
        "ram_budget_bytes": options.ram_budget_bytes,
        "vram_budget_bytes": options.vram_budget_bytes,
    }
    if report.threads:
        in_use |= {"kv_cache": report.kv_cache, "threads": report.threads}
    if reply is not None:
        in_use["drafts"] = reply.drafts or (("lookup" if reply.mode == "lookup" else OFF),)
    elif options.drafts:
        in_use["drafts"] = options.drafts
    on_gpus = [place for place in report.places if place.place not in ("ram", "disk")]
    if any(share.layers for place in report.places for share in place.shares):
        in_use["gpu_layers"] = sum(share.layers for place in on_gpus for share in place.shares)
    return in_use
