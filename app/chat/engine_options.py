"""What the settings ask of the engine."""

from __future__ import annotations

from dataclasses import replace

from app.settings.settings import Settings
from engine.messages import LoadOptions


def load_options(settings: Settings, ref: str | None = None) -> LoadOptions:
    """Which model to run and how, as the settings are now.

    Args:
        settings: The settings.
        ref: Another model than the chosen one; its own draft goes along.
    """
    model = settings.model if ref is None else ref
    return LoadOptions(
        model=model,
        draft=settings.draft_of(model) or None,
        mode=settings.mode,
        weights=settings.weights,
        threads=settings.threads or None,
        context=settings.context or None,
        ram_budget_bytes=settings.ram_budget_bytes,
        vram_budget_bytes=settings.vram_budget_bytes,
        draft_width=settings.draft_width,
        draft_depth=settings.draft_depth,
        draft_nodes=settings.draft_nodes or LoadOptions.draft_nodes,
        fallback_threshold=settings.fallback_threshold,
        branching=settings.branching,
        adaptive_fallback=settings.adaptive_fallback,
        draft_ahead=settings.draft_ahead,
    )


def same_in_memory(one: LoadOptions, other: LoadOptions) -> bool:
    """Whether two requests are served by the same weights in memory: what else differs is a matter of each reply."""
    usual = LoadOptions()

    def loaded(options: LoadOptions) -> LoadOptions:
        return replace(
            usual,
            model=options.model,
            draft=options.draft,
            weights=options.weights,
            threads=options.threads,
            context=options.context,
            ram_budget_bytes=options.ram_budget_bytes,
            vram_budget_bytes=options.vram_budget_bytes,
        )

    return loaded(one) == loaded(other)
