"""One setting: its type, default, allowed values and help, in one place."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from app.settings.control import Control, Names, Number, Switch, Words
from app.words import mark, tr
from engine.errors import InvalidOption
from engine.sentences import figure

if TYPE_CHECKING:
    from app.settings.values import Values

T = TypeVar("T")

# By whether the number is whole, and whether there may be none.
_EXPECTED = {
    (True, False): mark("Expected a whole number from {least} to {most}, not {value}."),
    (True, True): mark("Expected a whole number from {least} to {most}, or nothing, not {value}."),
    (False, False): mark("Expected a number from {least} to {most}, not {value}."),
    (False, True): mark("Expected a number from {least} to {most}, or nothing, not {value}."),
}


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
        help_text: One sentence.
        title: Words beside the control.
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
