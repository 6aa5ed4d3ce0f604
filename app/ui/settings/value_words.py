"""A setting's value as words."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QLocale

from app.chat.modes import draft_names, mode_title
from app.settings.setting import Names, Number, Setting, Switch
from app.words import tr


def value_words(setting: Setting[Any], value: Any) -> str:
    """Value in a few words; empty for an empty text."""
    control = setting.control
    if setting.name == "drafts":
        return draft_names(value) if value else tr("Automatic")
    if setting.name == "mode":
        return mode_title(value)
    if isinstance(control, Switch):
        return tr("On") if value else tr("Off")
    if isinstance(control, Names):
        return next((tr(words) for name, words in control.titles if name == value), str(value))
    if isinstance(control, Number):
        return _number_words(control, value)
    return " ".join(str(value).split())


def _number_words(control: Number, value: Any) -> str:
    if value is None:
        return tr(control.empty)
    if control.least_words and value == control.least:
        return tr(control.least_words)
    shown = QLocale().toString(float(value) / control.unit_size, "f", control.places)
    if not control.unit:
        return shown
    return f"{shown} {tr(control.unit)}"
