"""Requests to the engine, made from the settings."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

from app.chat.choices import MODES
from app.chat.conversation_options import ConversationOptions
from app.settings.settings import Settings
from engine.messages import LoadOptions, SamplingOptions, Thinking


def load_options(settings: Settings, ref: str | None = None) -> LoadOptions:
    """Load options for a model, as the settings are now for it.

    Args:
        settings: The settings.
        ref: Another model than the chosen one; its own draft goes along.
    """
    model = settings.model if ref is None else ref
    settings = settings.of_model(model)
    return LoadOptions(
        model=model,
        draft=settings.draft_of(model) or None,
        mode=settings.mode,
        weights=settings.weights,
        kv_cache=settings.kv_cache,
        threads=settings.threads or None,
        context=settings.context or None,
        ram_budget_bytes=settings.ram_budget_bytes,
        vram_budget_bytes=settings.vram_budget_bytes,
        gpu_layers=settings.gpu_layers,
        draft_width=settings.draft_width,
        draft_depth=settings.draft_depth,
        draft_nodes=settings.draft_nodes or LoadOptions.draft_nodes,
        fallback_threshold=settings.fallback_threshold,
        branching=settings.branching,
        adaptive_fallback=settings.adaptive_fallback,
        draft_ahead=settings.draft_ahead,
        draft_beyond=settings.draft_beyond,
    )


def planned(options: LoadOptions) -> LoadOptions:
    """Options that a plan depends on: those that differ in nothing else have the same plan."""
    return LoadOptions(
        model=options.model,
        draft=options.draft,
        weights=options.weights,
        kv_cache=options.kv_cache,
        context=options.context,
        ram_budget_bytes=options.ram_budget_bytes,
        vram_budget_bytes=options.vram_budget_bytes,
        gpu_layers=options.gpu_layers,
    )


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
    """Sampling in force: what a conversation sets for itself, then the model's own, then what holds for all.

    Args:
        settings: The settings.
        ref: The model that replies.
        own: The conversation's.
    """
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
    """True if a request is served by the weights that another one loaded; each reply may differ in the other options.

    A mode that needs a GPU wants its layers there; the other modes take them from where they are.
    """
    usual = LoadOptions()

    def loaded(options: LoadOptions) -> LoadOptions:
        return replace(
            usual,
            model=options.model,
            draft=options.draft,
            weights=options.weights,
            kv_cache=options.kv_cache,
            threads=options.threads,
            context=options.context,
            ram_budget_bytes=options.ram_budget_bytes,
            vram_budget_bytes=options.vram_budget_bytes,
            gpu_layers=options.gpu_layers,
        )

    gpu_modes = [mode.name for mode in MODES if mode.needs == "gpu"]
    placed = wanted.mode not in gpu_modes or wanted.mode == held.mode
    return placed and loaded(held) == loaded(wanted)
