"""One setting: its type, default, allowed values and help, in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from engine.errors import InvalidOption

if TYPE_CHECKING:
    from app.settings.settings import Settings

T = TypeVar("T")


class Setting(Generic[T]):
    """A typed attribute of `Settings`.

    Reading gives the value, writing checks it. ``read`` turns what JSON gave (or what was assigned) into a
    value, and raises `InvalidOption` for anything else.
    """

    def __init__(self, default: T, help_text: str, read: Callable[[Any], T]) -> None:
        self.default = default
        self.help_text = help_text
        self.read = read
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Setting[T]: ...

    @overload
    def __get__(self, instance: Settings, owner: type) -> T: ...

    def __get__(self, instance: Settings | None, owner: type) -> Setting[T] | T:
        if instance is None:
            return self
        value: T = instance.values.get(self.name, self.default)
        return value

    def __set__(self, instance: Settings, value: T) -> None:
        instance.change(self.name, self.read(value))


def text(default: str, help_text: str) -> Setting[str]:
    """A string, any string."""
    return Setting(default, help_text, _text)


def switch(default: bool, help_text: str) -> Setting[bool]:
    """On or off."""

    def read(value: Any) -> bool:
        if not isinstance(value, bool):
            raise InvalidOption(f"Expected true or false, not {value!r}.")
        return value

    return Setting(default, help_text, read)


def choice(default: str, names: tuple[str, ...], help_text: str) -> Setting[str]:
    """One of some names."""

    def read(value: Any) -> str:
        if value not in names:
            raise InvalidOption(f"Expected one of {', '.join(names)}, not {value!r}.")
        return str(value)

    return Setting(default, help_text, read)


def whole_number(default: int, least: int, most: int, help_text: str) -> Setting[int]:
    """An integer from ``least`` to ``most``, both included."""

    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise InvalidOption(f"Expected a whole number from {least} to {most}, not {value!r}.")
        return value

    return Setting(default, help_text, read)


def optional_number(least: float, most: float, help_text: str) -> Setting[float | None]:
    """A number from ``least`` to ``most``, or None, which is the default."""

    def read(value: Any) -> float | None:
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
            raise InvalidOption(f"Expected a number from {least:g} to {most:g}, or nothing, not {value!r}.")
        return float(value)

    return Setting(None, help_text, read)


def texts(most: int, help_text: str) -> Setting[tuple[str, ...]]:
    """Strings, the first ``most`` of those given."""

    def read(value: Any) -> tuple[str, ...]:
        if not isinstance(value, (list, tuple)):
            raise InvalidOption(f"Expected a list, not {value!r}.")
        return tuple(_text(item) for item in value[:most])

    return Setting((), help_text, read)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidOption(f"Expected text, not {value!r}.")
    return value
