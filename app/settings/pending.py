"""Changes in the dialog that are not applied yet, for all models or for one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.settings.pages import rows
from app.settings.settings import Settings

EVERY_MODEL = ""


class PendingSettings:
    """Settings in force beside a copy that is being changed.

    A *scope* is `EVERY_MODEL` or the reference of the model that a value is for. The drafts are each model's own,
    so that their row means the chosen model's in any scope.

    Args:
        applied: The settings in force; nothing but `apply` changes them.
    """

    def __init__(self, applied: Settings) -> None:
        self.applied = applied
        self.chosen = Settings()  # the settings as they would be
        self.undo()

    def value(self, name: str, scope: str = EVERY_MODEL) -> Any:
        """Choice for a setting; the general one where a model has no value of its own."""
        return _value(self.chosen, name, scope)

    def applied_value(self, name: str, scope: str = EVERY_MODEL) -> Any:
        """Value in force for it."""
        return _value(self.applied, name, scope)

    def set(self, name: str, value: Any, scope: str = EVERY_MODEL) -> None:
        """Choose a value.

        Raises:
            InvalidOption: It is not allowed; what was chosen stays.
        """
        if name == "drafts":
            self.chosen.remember_drafts(self.chosen.model, value)
        elif scope:
            self.chosen.set_for_model(scope, name, value)
        else:
            self.chosen.assign(name, value)

    def reset(self, name: str, scope: str = EVERY_MODEL) -> None:
        """Choose the usual value; for one model what holds for all."""
        if name == "drafts":
            self.chosen.remember_drafts(self.chosen.model, ())
        elif scope:
            self.chosen.forget_for_model(scope, name)
        else:
            self.chosen.assign(name, Settings.declared()[name].default)

    def is_usual(self, name: str, scope: str = EVERY_MODEL) -> bool:
        """Return True if there is nothing to reset."""
        if name == "drafts":
            return not self.chosen.drafts_of(self.chosen.model)
        if scope:
            return name not in self.chosen.by_model.get(scope, {})
        return name not in self.chosen.values

    def is_changed(self, name: str, scope: str = EVERY_MODEL) -> bool:
        """Return True if Apply would change it, in this scope."""
        return bool(_own(self.applied, name, scope) != _own(self.chosen, name, scope))

    def changes(self) -> list[tuple[str, str]]:
        """Scope and name of everything that Apply would change."""
        models = dict.fromkeys((*self.applied.by_model, *self.chosen.by_model))
        found = [(EVERY_MODEL, name) for name in rows() if self.is_changed(name)]
        for model in models:
            own = dict.fromkeys((*self.applied.by_model.get(model, {}), *self.chosen.by_model.get(model, {})))
            found += [(model, name) for name in own if self.is_changed(name, model)]
        return found

    def undo(self) -> None:
        """Choose what is in force."""
        self.chosen.take(self.applied.stored())

    def choose(self, values: Mapping[str, Any], unknown: Mapping[str, Any]) -> None:
        """Choose what a file says: these values, and the usual ones for every other row."""
        kept = {name: value for name, value in self.applied.values.items() if name not in exported_names()}
        self.chosen.take({**self.applied.unknown, **unknown, **kept, **values})

    def apply(self) -> None:
        """Bring what is chosen into force, and only what was changed."""
        for scope, name in self.changes():
            if name == "drafts":
                self.applied.drafts = self.chosen.drafts
            elif not scope:
                self.applied.assign(name, self.chosen.value_of(name))
        self.applied.by_model = self.chosen.by_model
        self.applied.unknown.update(self.chosen.unknown)
        self.undo()


def exported_names() -> tuple[str, ...]:
    """Return the settings for a file for another computer: those with a row, and those of single models."""
    return (*rows(), "by_model")


def _value(settings: Settings, name: str, scope: str) -> Any:
    if name == "drafts":
        return settings.drafts_of(settings.model)
    return (settings.of_model(scope) if scope else settings).value_of(name)


def _own(settings: Settings, name: str, scope: str) -> Any:
    """Own value; None where a model has none."""
    if scope:
        own = settings.by_model.get(scope, {})
        return (name in own, own.get(name))
    return settings.value_of(name)
