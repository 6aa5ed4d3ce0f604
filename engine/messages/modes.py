"""Descriptors of modes: the plain data that settings, menus and the command line are made from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

OptionValue = bool | int


@dataclass(frozen=True)
class ModeOption:
    """An option of a mode: a switch where its default is one, else a whole number.

    Attributes:
        name: Key of its value in `LoadOptions.mode_options`; on the command line with hyphens.
        title: Words beside its field.
        help: One sentence.
        default: Value where none is given; None where the modes that share the option differ in it.
        least: Smallest number.
        most: Largest number.
    """

    name: str
    title: str
    help: str
    default: OptionValue | None
    least: int = 0
    most: int = 1

    @property
    def is_switch(self) -> bool:
        """True if it is a switch, which is on or off."""
        return isinstance(self.default, bool)

    def accepts(self, value: object) -> bool:
        """True if a value is of its type and in its range."""
        if self.is_switch or isinstance(value, bool):
            return self.is_switch and isinstance(value, bool)
        return isinstance(value, int) and self.least <= value <= self.most


@dataclass(frozen=True)
class ModeDescriptor:
    """A mode as a person is told of it.

    Attributes:
        name: Its ``--mode`` name.
        title: Its name in the window.
        help: One sentence.
        drafts: The kinds of draft that it takes; empty for a mode that needs none.
        needs_gpu: It is about a GPU.
        options: Its own options; modes share those of the same name.
        takes_several: It takes all drafts of these kinds that there are; else the first.
    """

    name: str
    title: str
    help: str
    drafts: tuple[str, ...] = ()
    needs_gpu: bool = False
    options: tuple[ModeOption, ...] = ()
    takes_several: bool = False


def shared_options(modes: Iterable[ModeDescriptor]) -> dict[str, ModeOption]:
    """The options of all modes by name, without a default where modes differ in it."""
    found: dict[str, ModeOption] = {}
    for option in (option for mode in modes for option in mode.options):
        known = found.setdefault(option.name, option)
        if known.default != option.default:
            found[option.name] = replace(known, default=None)
    return found
