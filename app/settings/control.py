"""How a person is asked for a setting: a switch, a list of names, or a number in a range. No Qt here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Switch:
    """On or off."""


@dataclass(frozen=True)
class Names:
    """One of some names, each with what to show for it."""

    titles: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Number:
    """A number in a range.

    Attributes:
        least: Smallest value, in the unit that is shown.
        most: Largest value.
        places: Digits after the point.
        step: How far one press of an arrow goes.
        unit: What stands behind the number, empty for nothing.
        unit_size: What one of this unit is in the setting's own.
        empty: What to show for no value at all; empty where a value is needed.
    """

    least: float
    most: float
    places: int = 0
    step: float = 1
    unit: str = ""
    unit_size: int = 1
    empty: str = ""


Control = Switch | Names | Number
