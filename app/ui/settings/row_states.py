"""States of the rows: the choice, the value in use, and a remark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.bridge.workspace import Workspace
from app.chat.engine_options import ADVISED, TOLD, InForce, sampling_in_force
from app.settings.pages import rows
from app.settings.pending import EVERY_MODEL, PendingSettings
from app.settings.settings import Settings
from app.ui.settings.field_choices import FieldChoices
from app.ui.settings.row import SettingRow
from app.ui.settings.value_words import value_words
from app.words import tr


class RowStates:
    """Brings rows up to date.

    Args:
        workspace: Knows the model and what is in use.
        pending: The choice.
        choices: Know why a choice cannot be.

    Attributes:
        not_allowed: Reasons why a field's content is not chosen, by the name of its setting; it stays to be mended.
    """

    def __init__(self, workspace: Workspace, pending: PendingSettings, choices: FieldChoices) -> None:
        self._workspace = workspace
        self._pending = pending
        self._choices = choices
        self._rows = rows()
        self._reasons: Mapping[str, str] = {}
        self.not_allowed: dict[str, str] = {}
        self.ask_reasons()

    def ask_reasons(self) -> None:
        """Find out again which settings have no effect here."""
        self._reasons = self._workspace.settings_desk.reasons()

    def numbers_in_force(self) -> dict[str, float]:
        """Return the sampling of the chat that is shown, as far as its model has told."""
        return {name: number.value for name, number in self._in_force(self._pending.applied).items()}

    def _in_force(self, settings: Settings) -> dict[str, InForce]:
        advice = self._workspace.advice()
        if advice is None:
            return {}
        of_model = settings.of_model(settings.model)
        return sampling_in_force({name: getattr(of_model, name) for name in ADVISED}, advice)

    def show(self, name: str, row: SettingRow, scope: str, in_use: Mapping[str, Any]) -> bool:
        """Show how a row stands; returns whether its height is another now.

        Args:
            name: Name of the setting.
            row: The row.
            scope: Scope as in `PendingSettings`.
            in_use: Values that the engine works with, by the names of settings.
        """
        pending, setting = self._pending, Settings.declared()[name]
        value = pending.value(name, scope)
        if row.field.value() != value and name not in self.not_allowed:
            row.field.show_value(value)
        row.field.setEnabled(name not in self._reasons)
        known = name in in_use or name not in TOLD
        model = pending.applied.model if self._rows[name].per_model else EVERY_MODEL
        applied = pending.applied_value(name, scope or model)
        told = in_use.get(name) if name in TOLD or applied is None else applied
        marked = told if known else pending.applied_value(name, scope)
        row.field.show_in_use(None if name in self._reasons else marked)
        usual = pending.value(name) if scope else setting.default if name != "drafts" else ()
        nothing_to_reset = pending.is_usual(name, scope) and name not in self.not_allowed
        row.show_state(
            changed=pending.is_changed(name, scope),
            usual=nothing_to_reset or name in self._reasons,
            in_use="" if not known else value_words(setting, told) if told != () else tr("None"),
            usual_words=value_words(setting, usual),
        )
        return row.show_note(row.field.notice() or self._note(name, value, scope))

    def _note(self, name: str, value: Any, scope: str) -> str:
        """Remark on a row: the first of these that applies."""
        if name in self._reasons:
            return tr(self._reasons[name])
        if name in self.not_allowed:
            return self.not_allowed[name]
        problem = self._choices.problem(name, value)
        own = self._pending.chosen.by_model.get(self._pending.chosen.model, {})
        if not problem and not scope and name in own:
            words = value_words(Settings.declared()[name], own[name])
            model = self._workspace.model.state.model_name
            return tr("{model} has a value of its own: {value}.", model=model, value=words)
        return problem or self._origin(name)

    def _origin(self, name: str) -> str:
        """Origin of a number that the user leaves open; empty for everything else."""
        number = self._in_force(self._pending.chosen).get(name)
        if number is None or number.origin == "set":
            return ""
        value = value_words(Settings.declared()[name], number.value)
        if number.origin == "makers":
            return tr("Automatic is {value}, as the model's makers advise.", value=value)
        if number.origin == "greedy":
            return tr("Automatic is {value}, because the temperature is 0.", value=value)
        return tr("Automatic is {value}, the usual value.", value=value)
