"""Requests to the engine, made from the settings."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

from app.chat.conversation_options import ConversationOptions
from app.chat.modes import known_modes
from app.settings.settings import Settings
from engine.messages import LoadOptions, OptionValue, SamplingOptions, Thinking, shared_options


def load_options(settings: Settings, ref: str | None = None) -> LoadOptions:
    """Load options for a model, as the settings are now for it.

    ``ref`` is another model than the chosen one; its own drafts go along.
    """
    model = settings.model if ref is None else ref
    settings = settings.of_model(model)
    chosen = {name: settings.values.get(name) for name in shared_options(known_modes())}
    return LoadOptions(
        model=model,
        drafts=settings.drafts_of(model),
        mode=settings.mode,
        mode_options={name: _number_or_word(value) for name, value in chosen.items() if value is not None},
        weights=settings.weights,
        kv_cache=settings.kv_cache,
        threads=settings.threads or None,
        context=settings.context or None,
        ram_budget_bytes=settings.ram_budget_bytes,
        vram_budget_bytes=settings.vram_budget_bytes,
        gpu_layers=settings.gpu_layers,
    )


def _number_or_word(value: OptionValue) -> OptionValue:
    """Return the number that a text holds, or else the value as it is; settings keep both as text."""
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def planned(options: LoadOptions) -> LoadOptions:
    """Options that a plan depends on: those that differ in nothing else have the same plan."""
    return replace(options, mode=LoadOptions.mode, mode_options={}, threads=None)


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


def same_in_memory(held: LoadOptions, wanted: LoadOptions) -> bool:
    """Return True if the weights that another request loaded serve this one; other options may differ.

    A mode that needs a GPU wants its layers there; the other modes take them from where they are.
    """
    about_gpu = any(mode.needs_gpu for mode in known_modes() if mode.name == wanted.mode)
    same = replace(wanted, mode=held.mode, mode_options=held.mode_options) == held
    return same and (not about_gpu or wanted.mode == held.mode)
