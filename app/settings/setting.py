"""One setting, its type, default, allowed values, help and control, and the values that are in force. No Qt here."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar, overload

from app.words import mark, tr
from engine.errors import InvalidOption
from engine.sentences import figure

T = TypeVar("T")

# By whether the number is whole, and whether there may be none.
_EXPECTED = {
    (True, False): mark("Expected a whole number from {least} to {most}, not {value}."),
    (True, True): mark("Expected a whole number from {least} to {most}, or nothing, not {value}."),
    (False, False): mark("Expected a number from {least} to {most}, not {value}."),
    (False, True): mark("Expected a number from {least} to {most}, or nothing, not {value}."),
}

REMEMBERED_MODELS = 64
V = TypeVar("V", bound="Values")

_PER_DOUBLING = 2


@dataclass(frozen=True)
class Switch:
    """On or off."""


@dataclass(frozen=True)
class Names:
    """One of some names, each with what to show for it."""

    titles: tuple[tuple[str, str], ...] = ()  # name and words of each
    # True if the window is asked what there is to choose from, with details and reasons
    offered: bool = False
    several: bool = False  # True if any number of them may be chosen


@dataclass(frozen=True)
class Number:
    """A number in a range."""

    least: float  # smallest value, in the unit that is shown
    most: float  # largest value
    places: int = 0  # digits after the point
    step: float = 1  # way of one press of an arrow
    unit: str = ""  # words after the number, empty for none
    unit_size: int = 1  # size of this unit in the setting's own
    empty: str = ""  # words for no value at all; empty where a value is needed
    least_words: str = ""  # words in place of the smallest value, where that stands for something else
    # The part of the range that a slider covers, beside what the two words above stand for; None for no
    # slider
    slider: tuple[float, float] | None = None
    by_factors: bool = False  # True if equal ways of the slider are equal factors and not equal differences


@dataclass(frozen=True)
class Words:
    """Any text."""

    lines: int = 1  # number of lines that are seen at once
    hint: str = ""  # words in the empty field


Control = Switch | Names | Number | Words


class Setting(Generic[T]):
    """A typed attribute of `Settings`.

    Reading gives the value, writing checks it. ``read`` turns what JSON gave (or what was assigned) into a
    value, and raises `InvalidOption` for anything else. A setting with a title is shown to the user, as its
    control says.
    """

    def __init__(
        self,
        default: T,
        help_text: str,
        read: Callable[[Any], T],
        title: str = "",
        control: Control | None = None,
    ) -> None:
        self.default = default
        self.help_text = help_text
        self.read = read
        self.title = title
        self.control = control
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Setting[T]: ...

    @overload
    def __get__(self, instance: Values, owner: type) -> T: ...

    def __get__(self, instance: Values | None, owner: type) -> Setting[T] | T:
        if instance is None:
            return self
        value: T = instance.values.get(self.name, self.default)
        return value

    def __set__(self, instance: Values, value: T) -> None:
        instance.change(self.name, self.read(value))


def text(help_text: str, title: str = "", control: Words | None = None) -> Setting[str]:
    """Declare a setting that is any string."""
    return Setting("", help_text, read_text, title, control or Words())


def address(help_text: str, title: str, hint: str) -> Setting[str]:
    """Declare a setting that is the address of a server (http or https) or nothing."""

    def read(value: Any) -> str:
        given = read_text(value).strip()
        if given and not re.fullmatch(r"https?://[^\s/]+(/\S*)?", given):
            raise InvalidOption(tr("Write a whole address, such as {example}.", example=hint))
        return given

    return Setting("", help_text, read, title, Words(hint=hint))


def switch(default: bool, help_text: str, title: str = "") -> Setting[bool]:
    """On or off."""

    def read(value: Any) -> bool:
        if not isinstance(value, bool):
            raise InvalidOption(tr("Expected true or false, not {value}.", value=repr(value)))
        return value

    return Setting(default, help_text, read, title, Switch())


def one_of(names: Callable[[], Collection[str]]) -> Callable[[Any], str]:
    """Return a reader of one of some names, which are looked up each time."""

    def read(value: Any) -> str:
        if value not in names():
            raise InvalidOption(
                tr("Expected one of {names}, not {value}.", names=", ".join(names()), value=repr(value))
            )
        return str(value)

    return read


def choice(
    default: str, names: tuple[str, ...], help_text: str, title: str = "", titles: tuple[str, ...] = ()
) -> Setting[str]:
    """One of some names; ``titles`` are shown for them."""
    control = Names(tuple(zip(names, titles or names, strict=True)))
    return Setting(default, help_text, one_of(lambda: names), title, control)


def number(
    default: T,
    control: Number,
    help_text: str,
    title: str = "",
    allowed: tuple[int, int] | None = None,
) -> Setting[T]:
    """Declare a number in the range of its control, or None if the control has words for nothing.

    Args:
        default: None or a number.
        control: With digits after the point for numbers that are not whole; a larger unit is shown of whole ones.
        allowed: The range, where the control shows only a part of it.
    """
    whole = not control.places or control.unit_size > 1
    kinds, made = (int, int) if whole else ((int, float), float)
    size = control.unit_size
    least, most = allowed or (made(control.least * size), made(control.most * size))
    optional = bool(control.empty)

    def read(value: Any) -> Any:
        if value is None and optional:
            return None
        if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value <= most:
            low, high = (str(bound) if whole else figure(bound, "g") for bound in (least, most))
            raise InvalidOption(tr(_EXPECTED[whole, optional], least=low, most=high, value=repr(value)))
        return made(value)

    return Setting(default, help_text, read, title, control)


def texts(most: int, help_text: str) -> Setting[tuple[str, ...]]:
    """Strings, the first ``most`` of those given."""

    def read(value: Any) -> tuple[str, ...]:
        if not isinstance(value, (list, tuple)):
            raise InvalidOption(tr("Expected a list, not {value}.", value=repr(value)))
        return tuple(read_text(item) for item in value[:most])

    return Setting((), help_text, read)


def texts_by_name(
    most: int, help_text: str, title: str = "", control: Control | None = None
) -> Setting[Mapping[str, tuple[str, ...]]]:
    """Declare some strings by name, of which the last ``most`` names are kept; a single string counts as one."""

    def several(value: Any) -> tuple[str, ...]:
        items = value if isinstance(value, (list, tuple)) else (value,)
        return tuple(dict.fromkeys(read_text(item) for item in items if item != ""))

    def read(value: Any) -> Mapping[str, tuple[str, ...]]:
        if not isinstance(value, dict):
            raise InvalidOption(tr("Expected texts by name, not {value}.", value=repr(value)))
        found = {read_text(name): several(item) for name, item in list(value.items())[-most:]}
        return {name: items for name, items in found.items() if items}

    return Setting({}, help_text, read, title, control)


def values_by_name(most: int, help_text: str) -> Setting[Mapping[str, Mapping[str, Any]]]:
    """Values by their names, by another name; the last ``most`` of those given, without the empty ones."""

    def read(value: Any) -> Mapping[str, Mapping[str, Any]]:
        if not isinstance(value, dict) or not all(isinstance(own, dict) for own in value.values()):
            raise InvalidOption(tr("Expected values by name, not {value}.", value=repr(value)))
        return {read_text(name): dict(own) for name, own in list(value.items())[-most:] if own}

    return Setting({}, help_text, read)


def read_text(value: Any) -> str:
    """Return a value that is a text.

    Raises:
        InvalidOption: it is not.
    """
    if not isinstance(value, str):
        raise InvalidOption(tr("Expected text, not {value}.", value=repr(value)))
    return value


@cache
def _settings_of(line: tuple[type, ...]) -> dict[str, Setting[Any]]:
    found = {name: value for part in reversed(line) for name, value in vars(part).items()}
    return {name: value for name, value in found.items() if isinstance(value, Setting)}


class Values:
    """The values in force."""

    by_model = values_by_name(REMEMBERED_MODELS, "Settings of one model only, by the model.")

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}  # settings that differ from their defaults, by name
        # Entries of the file that this version does not know; they are written back as they were
        self.unknown: dict[str, Any] = {}
        self.on_change: Callable[[], None] | None = None  # called after each change that is one

    @classmethod
    def declared(cls) -> Mapping[str, Setting[Any]]:
        """Every setting by name, in the order of this page."""
        return _settings_of(cls.__mro__)

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
        """Replace all values by stored ones; return the names of those that are not allowed and keep their defaults."""
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


class SliderScale:
    """Positions 0 to `last`; the first one is no number where the setting has words for that.

    Args:
        most: End of the slider here, in the unit that is shown; None for the usual one.
    """

    def __init__(self, number: Number, most: float | None = None) -> None:
        assert number.slider is not None, "the number has no slider"
        self._number = number
        self._least, usual = number.slider
        self._most = max(usual if most is None else min(most, number.most), self._least + number.step)
        self._words = int(bool(number.empty or number.least_words))
        if number.by_factors:
            steps = math.ceil(math.log2(self._most / self._least) * _PER_DOUBLING)
        else:
            steps = round((self._most - self._least) / number.step)
        self._steps = max(steps, 1)
        self.last = self._steps + self._words  # the last position

    def value_at(self, position: int) -> float | None:
        """Return the number at a position in the unit that is shown, or None for the control's words."""
        if self._words and position <= 0:
            return None
        way = (position - self._words) / self._steps
        if self._number.by_factors:
            exact = self._least * (self._most / self._least) ** way
            # Quarters of the power of two below it: between 8,192 and 16,384 lies 12,288.
            step = max(self._number.step, 2.0 ** math.floor(math.log2(exact)) / 4)
        else:
            exact = self._least + (self._most - self._least) * way
            step = self._number.step
        steps = round(exact / step) * step
        return float(round(min(max(steps, self._least), self._most), self._number.places))

    def position_of(self, value: float | None) -> int:
        """Return the position nearest to a number; None is the control's words."""
        if value is None:
            return 0
        inside = min(max(value, self._least), self._most)
        if self._number.by_factors:
            way = math.log(inside / self._least) / math.log(self._most / self._least)
        else:
            way = (inside - self._least) / (self._most - self._least)
        return round(way * self._steps) + self._words
