"""The settings that say how the window looks, brought into its theme."""

from __future__ import annotations

from app.settings.settings import Settings
from app.ui.theme.theme import LARGEST_SCALE, SMALLEST_SCALE, Theme

_DARK = {"light": False, "dark": True, "system": None}


def apply_appearance(theme: Theme, settings: Settings) -> None:
    """Light or dark, size of text and density, as they are set now; at once, and only what is another."""
    theme.set_dark(_DARK[settings.theme])
    theme.set_scale(min(LARGEST_SCALE, max(SMALLEST_SCALE, settings.font_scale / 100)))
    theme.set_compact(settings.density == "compact")
