"""Settings of the options that modes declare."""

from __future__ import annotations

from typing import Any

from app.chat.modes import known_modes
from app.settings.control import Number
from app.settings.setting import Setting, choice, number, switch
from app.words import mark
from engine.messages import ModeOption, shared_options

_USUAL = mark("Usual")
# Numbers to choose from beside the words of an option that takes both.
_LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 48, 64)


def mode_option_settings() -> dict[str, Setting[Any]]:
    """Return a setting for each option of a mode, by its name."""
    return {name: _setting(option) for name, option in shared_options(known_modes()).items()}


def _setting(option: ModeOption) -> Setting[Any]:
    setting: Setting[Any]
    if option.is_switch:
        setting = switch(bool(option.default), option.help, option.title)
    elif option.words:
        names = [*option.words, *((str(each), str(each)) for each in _LENGTHS if each <= option.most)]
        setting = choice(
            str(option.default),
            tuple(name for name, _ in names),
            option.help,
            option.title,
            tuple(words for _, words in names),
        )
    else:
        control = Number(
            option.least,
            option.most,
            option.places,
            step=10.0**-option.places,
            empty=_USUAL if option.default is None else "",
            slider=(option.least, option.most),
            by_factors=option.by_factors,
        )
        setting = number(option.default, control, option.help, option.title)
    setting.name = option.name
    return setting
