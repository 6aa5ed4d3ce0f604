"""Settings of the options that modes declare."""

from __future__ import annotations

from typing import Any

from app.chat.modes import known_modes
from app.settings.control import Number, Switch
from app.settings.setting import Setting
from app.words import mark, tr
from engine.errors import InvalidOption
from engine.messages import ModeOption, shared_options
from engine.sentences import figure

_USUAL = mark("Usual")


def mode_option_settings() -> dict[str, Setting[Any]]:
    """A setting for each option of a mode, by its name."""
    return {name: _setting(option) for name, option in shared_options(known_modes()).items()}


def _setting(option: ModeOption) -> Setting[Any]:
    def read(value: Any) -> Any:
        if option.accepts(value) or (value is None and option.default is None):
            return value
        if option.is_switch:
            raise InvalidOption(tr("Expected true or false, not {value}.", value=repr(value)))
        least, most = figure(option.least, "g"), figure(option.most, "g")
        raise InvalidOption(
            tr(
                "Expected a number from {least} to {most}, not {value}.",
                least=least,
                most=most,
                value=repr(value),
            )
        )

    control: Switch | Number = Switch()
    if not option.is_switch:
        control = Number(
            option.least,
            option.most,
            option.places,
            step=10.0**-option.places,
            empty=_USUAL if option.default is None else "",
            slider=(option.least, option.most),
            by_factors=option.by_factors,
        )
    setting = Setting(option.default, option.help, read, option.title, control)
    setting.name = option.name
    return setting
