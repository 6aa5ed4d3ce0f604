"""The field of each setting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtWidgets import QWidget

from app.chat.modes import Choice
from app.settings.setting import Names, Number, Switch, Words
from app.settings.settings import Settings
from app.ui.settings.choice_field import ChoiceField
from app.ui.settings.field import Field
from app.ui.settings.number_field import NumberField
from app.ui.settings.plain_fields import LineField, NamesField, SwitchField, TextField
from app.ui.settings.value_words import value_words
from app.ui.theme.theme import Theme
from app.words import tr


class Fields:
    """Makes them.

    Args:
        limits: Ends of sliders on this machine, by the names of settings, in the unit that is shown.
        offered: Choices, by the names of settings whose control asks for them.
    """

    def __init__(
        self, theme: Theme, limits: Mapping[str, float], offered: Mapping[str, Callable[[], list[Choice]]]
    ) -> None:
        self._theme = theme
        self._limits = limits
        self._offered = offered

    def make(self, name: str, parent: QWidget) -> Field:
        """Return the field of a setting that has a row."""
        setting = Settings.declared()[name]
        title, help_text, control = tr(setting.title), tr(setting.help_text), setting.control
        if isinstance(control, Switch):
            return SwitchField(self._theme, title, help_text, parent)
        if isinstance(control, Number):
            return NumberField(self._theme, control, self._limits.get(name), title, help_text, parent)
        if isinstance(control, Names) and control.offered:

            def words(value: Any) -> str:
                return value_words(setting, value)

            offered = self._offered[name]
            return ChoiceField(self._theme, offered, words, title, help_text, parent, control.several)
        if isinstance(control, Names):
            return NamesField(self._theme, control, title, help_text, parent)
        assert isinstance(control, Words), f"{name} does not say how it is changed"
        if control.lines > 1:
            return TextField(self._theme, control, title, help_text, parent)
        return LineField(control, title, help_text, parent)
