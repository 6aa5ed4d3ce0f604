"""Settings of the options that modes declare."""

from __future__ import annotations

from typing import Any

from app.chat.modes import known_modes
from app.settings.setting import Number, Setting, number, switch
from app.words import mark
from engine.messages import ModeOption, shared_options

_USUAL = mark("Usual")


def mode_option_settings() -> dict[str, Setting[Any]]:
    """Return a setting for each option of a mode, by its name."""
    return {name: _setting(option) for name, option in shared_options(known_modes()).items()}


def _setting(option: ModeOption) -> Setting[Any]:
    setting: Setting[Any]
    if option.is_switch:
        setting = switch(bool(option.default), option.help, option.title)
    else:
        control = Number(
            option.least,
            option.most,
            empty=_USUAL if option.default is None else "",
            slider=(option.least, option.most),
        )
        setting = number(option.default, control, option.help, option.title)
    setting.name = option.name
    return setting
