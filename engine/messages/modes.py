"""Descriptors of modes: the plain data that settings, menus and the command line are made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from engine.errors import InvalidOption
from engine.sentences import figure, say

OptionValue = bool | int | float | str


@dataclass(frozen=True)
class ModeOption:
    """An option of a mode: a switch where its default is one, else a number or one of some words.

    Attributes:
        name: Key of its value in `LoadOptions.mode_options`; on the command line with hyphens.
        title: Words beside its field.
        help: One sentence.
        default: Value where none is given; None where the modes that share the option differ in it.
        least: Smallest number.
        most: Largest number.
        places: Digits after the point; 0 for a whole number.
        by_factors: Equal ways of a slider are equal factors and not equal differences.
        words: Names that may stand in place of a number, with what people see.
        at_most: The option whose number it must not exceed; empty for none.
    """

    name: str
    title: str
    help: str
    default: OptionValue | None
    least: float = 0
    most: float = 1
    places: int = 0
    by_factors: bool = False
    words: tuple[tuple[str, str], ...] = ()
    at_most: str = ""

    @property
    def is_switch(self) -> bool:
        """True if it is a switch, which is on or off."""
        return isinstance(self.default, bool)

    def accepts(self, value: object) -> bool:
        """Return True if a value is of its type and in its range, or one of its words."""
        if isinstance(value, str):
            return value in dict(self.words)
        if self.is_switch or isinstance(value, bool):
            return self.is_switch and isinstance(value, bool)
        return isinstance(value, (int, float) if self.places else int) and self.least <= value <= self.most


@dataclass(frozen=True)
class ModeDescriptor:
    """A mode as a user is told of it.

    Attributes:
        name: ``--mode`` name.
        title: Name in the window.
        help: One sentence.
        drafts: The kinds of draft that it takes; empty for a mode that needs none.
        needs_gpu: True if the mode is about a GPU.
        options: Own options; modes share those of the same name.
        takes_several: True if it takes all drafts of these kinds, else the first.
    """

    name: str
    title: str
    help: str
    drafts: tuple[str, ...] = ()
    needs_gpu: bool = False
    options: tuple[ModeOption, ...] = ()
    takes_several: bool = False


def shared_options(modes: Iterable[ModeDescriptor]) -> dict[str, ModeOption]:
    """Return the options of all modes by name, without a default if modes differ in it."""
    found: dict[str, ModeOption] = {}
    for option in (option for mode in modes for option in mode.options):
        known = found.setdefault(option.name, option)
        if known.default != option.default:
            found[option.name] = replace(known, default=None)
    return found


def check_order(
    options: Iterable[ModeOption],
    value_of: Callable[[str], float],
    called: Callable[[ModeOption], str] = lambda option: say(option.title),
) -> None:
    """Refuse a number that exceeds the one which is its most.

    Args:
        options: Options that are checked.
        value_of: The number of an option, by its name.
        called: Name of an option whose number was given.

    Raises:
        InvalidOption: There is one.
    """
    known = {option.name: option for option in options}
    for option in known.values():
        if option.at_most and value_of(option.name) > value_of(option.at_most):
            raise InvalidOption(
                "{option} is {value}, but {other} is {most}: choose a number that is not above it.",
                option=called(option),
                value=figure(value_of(option.name), "g"),
                other=called(known[option.at_most]),
                most=figure(value_of(option.at_most), "g"),
            )
