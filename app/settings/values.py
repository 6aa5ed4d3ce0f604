"""The values of settings: those in force, those of single models, and their way to the file and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from app.settings.setting import Setting, values_by_name
from engine.errors import InvalidOption

REMEMBERED_MODELS = 64
V = TypeVar("V", bound="Values")


class Values:
    """The values in force.

    Attributes:
        values: Settings that differ from their defaults, by name.
        unknown: Entries of the file that this version does not know; they are written back as they were.
        on_change: Called after each change that is one.
    """

    by_model = values_by_name(REMEMBERED_MODELS, "Settings of one model only, by the model.")

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.unknown: dict[str, Any] = {}
        self.on_change: Callable[[], None] | None = None

    @classmethod
    def declared(cls) -> dict[str, Setting[Any]]:
        """Every setting by name, in the order of this page."""
        found = {name: value for part in reversed(cls.__mro__) for name, value in vars(part).items()}
        return {name: value for name, value in found.items() if isinstance(value, Setting)}

    def value_of(self, name: str) -> Any:
        """Return the value of a setting by its name."""
        return self.values.get(name, self.declared()[name].default)

    def assign(self, name: str, value: Any) -> None:
        """Set a setting by its name.

        Raises:
            InvalidOption: The value is not allowed.
        """
        self.change(name, self.declared()[name].read(value))

    def change(self, name: str, value: Any) -> None:
        """Store a checked value; assigning to the attribute does this."""
        setting = self.declared()[name]
        if self.values.get(name, setting.default) == value:
            return
        self.values[name] = value
        if value == setting.default:
            del self.values[name]
        if self.on_change is not None:
            self.on_change()

    def take(self, stored: Mapping[str, Any]) -> list[str]:
        """Replace all values by stored ones.

        Returns:
            Names whose stored value is not allowed; these keep their defaults.
        """
        self.values, self.unknown = {}, {}
        declared, rejected = self.declared(), []
        for name, value in stored.items():
            setting = declared.get(name)
            if setting is None:
                self.unknown[name] = value
                continue
            try:
                checked = setting.read(value)
            except InvalidOption:
                rejected.append(name)
                continue
            if checked != setting.default:
                self.values[name] = checked
        return rejected + self._read_for_models()

    def stored(self) -> dict[str, Any]:
        """Values for the file: those that differ from the defaults, so that a better default reaches everybody."""
        return {**self.unknown, **self.values}

    def of_model(self: V, model: str) -> V:
        """Return a copy with the settings of one model in place; it saves nothing."""
        merged = type(self)()
        own = self.by_model.get(model, {})
        merged.values = {**self.values, **{name: own[name] for name in own if name in self.declared()}}
        return merged

    def set_for_model(self, model: str, name: str, value: Any) -> None:
        """Set something for one model only.

        Raises:
            InvalidOption: The value is not allowed.
        """
        own = {**self.by_model.get(model, {}), name: self.declared()[name].read(value)}
        self.by_model = {**self._of_other_models(model), model: own}

    def forget_for_model(self, model: str, name: str) -> None:
        """Let the general value hold for a model again."""
        own = {known: value for known, value in self.by_model.get(model, {}).items() if known != name}
        self.by_model = {**self._of_other_models(model), model: own}

    def choose_for(self, model: str, name: str, value: Any) -> None:
        """Set what holds for a model: its own value where it has one, else the general one."""
        if name in self.by_model.get(model, {}):
            self.set_for_model(model, name, value)
        else:
            self.assign(name, value)

    def _of_other_models(self, model: str) -> dict[str, Mapping[str, Any]]:
        return {ref: own for ref, own in self.by_model.items() if ref != model}

    def _read_for_models(self) -> list[str]:
        """Check the values of single models; returns those that are dropped."""
        rejected: list[str] = []
        kept: dict[str, dict[str, Any]] = {}
        for model, own in self.values.pop("by_model", {}).items():
            for name, value in own.items():
                setting = self.declared().get(name)
                try:
                    kept.setdefault(model, {})[name] = value if setting is None else setting.read(value)
                except InvalidOption:
                    rejected.append(f"{name} ({model})")
        if any(kept.values()):
            self.values["by_model"] = {model: own for model, own in kept.items() if own}
        return rejected
