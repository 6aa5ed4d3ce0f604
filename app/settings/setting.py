"""One setting: its type, default, allowed values and help, in one place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from app.settings.control import Control, Names, Number, Switch, Words
from app.words import tr
from engine.errors import InvalidOption
from engine.sentences import figure

if TYPE_CHECKING:
    from app.settings.values import Values

T = TypeVar("T")


class Setting(Generic[T]):
    """A typed attribute of `Settings`.

    Reading gives the value, writing checks it. ``read`` turns what JSON gave (or what was assigned) into a
    value, and raises `InvalidOption` for anything else. A setting with a title is shown to the person, as its
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


def text(default: str, help_text: str, title: str = "", control: Words | None = None) -> Setting[str]:
    """A string, any string."""
    return Setting(default, help_text, read_text, title, control or Words())


def address(default: str, help_text: str, title: str = "", hint: str = "") -> Setting[str]:
    """The address of a server, http or https; or nothing."""

    def read(value: Any) -> str:
        given = read_text(value).strip()
        if given and not re.fullmatch(r"https?://[^\s/]+(/\S*)?", given):
            raise InvalidOption(tr("Write a whole address, such as {example}.", example=hint))
        return given

    return Setting(default, help_text, read, title, Words(hint=hint))


def switch(default: bool, help_text: str, title: str = "") -> Setting[bool]:
    """On or off."""

    def read(value: Any) -> bool:
        if not isinstance(value, bool):
            raise InvalidOption(tr("Expected true or false, not {value}.", value=repr(value)))
        return value

    return Setting(default, help_text, read, title, Switch())


def choice(
    default: str,
    names: tuple[str, ...],
    help_text: str,
    title: str = "",
    titles: tuple[str, ...] = (),
) -> Setting[str]:
    """One of some names; ``titles`` are shown for them."""

    def read(value: Any) -> str:
        if value not in names:
            raise InvalidOption(
                tr("Expected one of {names}, not {value}.", names=", ".join(names), value=repr(value))
            )
        return str(value)

    control = Names(tuple(zip(names, titles or names, strict=True)))
    return Setting(default, help_text, read, title, control)


def whole_number(
    default: int, least: int, most: int, help_text: str, title: str = "", control: Number | None = None
) -> Setting[int]:
    """An integer from ``least`` to ``most``, both included."""

    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise InvalidOption(
                tr(
                    "Expected a whole number from {least} to {most}, not {value}.",
                    least=least,
                    most=most,
                    value=repr(value),
                )
            )
        return value

    return Setting(default, help_text, read, title, control or Number(least, most))


def optional_whole_number(
    least: int, most: int, help_text: str, title: str = "", empty: str = "", control: Number | None = None
) -> Setting[int | None]:
    """An integer from ``least`` to ``most``; or None, which is the default and for which ``empty`` is shown."""
    return _optional_integer(least, most, help_text, title, control or Number(least, most, empty=empty))


def optional_size(
    least_bytes: int, most_bytes: int, help_text: str, title: str = "", empty: str = ""
) -> Setting[int | None]:
    """Bytes, shown in GB; or None, which is the default and for which ``empty`` is shown."""
    least, most = least_bytes / 1e9, most_bytes / 1e9
    slider = (max(least, 0.5), 64.0)
    control = Number(least, most, 1, 0.5, "GB", 1_000_000_000, empty, slider=slider, by_factors=True)
    return _optional_integer(least_bytes, most_bytes, help_text, title, control)


def _optional_integer(
    least: int, most: int, help_text: str, title: str, control: Control
) -> Setting[int | None]:
    def read(value: Any) -> int | None:
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise InvalidOption(
                tr(
                    "Expected a whole number from {least} to {most}, or nothing, not {value}.",
                    least=least,
                    most=most,
                    value=repr(value),
                )
            )
        return value

    return Setting(None, help_text, read, title, control)


def optional_number(
    least: float, most: float, help_text: str, title: str = "", control: Number | None = None
) -> Setting[float | None]:
    """A number from ``least`` to ``most``, or None, which is the default."""

    def read(value: Any) -> float | None:
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
            raise InvalidOption(
                tr(
                    "Expected a number from {least} to {most}, or nothing, not {value}.",
                    least=figure(least, "g"),
                    most=figure(most, "g"),
                    value=repr(value),
                )
            )
        return float(value)

    return Setting(None, help_text, read, title, control)


def texts(most: int, help_text: str) -> Setting[tuple[str, ...]]:
    """Strings, the first ``most`` of those given."""

    def read(value: Any) -> tuple[str, ...]:
        if not isinstance(value, (list, tuple)):
            raise InvalidOption(tr("Expected a list, not {value}.", value=repr(value)))
        return tuple(read_text(item) for item in value[:most])

    return Setting((), help_text, read)


def texts_by_name(
    most: int, help_text: str, title: str = "", control: Control | None = None
) -> Setting[Mapping[str, str]]:
    """Strings by name, the last ``most`` of those given."""

    def read(value: Any) -> Mapping[str, str]:
        if not isinstance(value, dict):
            raise InvalidOption(tr("Expected texts by name, not {value}.", value=repr(value)))
        return {read_text(name): read_text(item) for name, item in list(value.items())[-most:]}

    return Setting({}, help_text, read, title, control)


def values_by_name(most: int, help_text: str) -> Setting[Mapping[str, Mapping[str, Any]]]:
    """Values by their names, by another name; the last ``most`` of those given, without the empty ones."""

    def read(value: Any) -> Mapping[str, Mapping[str, Any]]:
        if not isinstance(value, dict) or not all(isinstance(own, dict) for own in value.values()):
            raise InvalidOption(tr("Expected values by name, not {value}.", value=repr(value)))
        return {read_text(name): dict(own) for name, own in list(value.items())[-most:] if own}

    return Setting({}, help_text, read)


def read_text(value: Any) -> str:
    """A text that is one.

    Raises:
        InvalidOption: it is not.
    """
    if not isinstance(value, str):
        raise InvalidOption(tr("Expected text, not {value}.", value=repr(value)))
    return value
