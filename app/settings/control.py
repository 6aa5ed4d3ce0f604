"""Controls for settings: a switch, a list of names, a number in a range, or words. No Qt here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Switch:
    """On or off."""


@dataclass(frozen=True)
class Names:
    """One of some names, each with what to show for it.

    Attributes:
        titles: Name and words of each.
        offered: True if the window is asked what there is to choose from, with details and reasons.
        several: True if any number of them may be chosen.
    """

    titles: tuple[tuple[str, str], ...] = ()
    offered: bool = False
    several: bool = False


@dataclass(frozen=True)
class Number:
    """A number in a range.

    Attributes:
        least: Smallest value, in the unit that is shown.
        most: Largest value.
        places: Digits after the point.
        step: Way of one press of an arrow.
        unit: Words after the number, empty for none.
        unit_size: Size of this unit in the setting's own.
        empty: Words for no value at all; empty where a value is needed.
        least_words: Words in place of the smallest value, where that stands for something else.
        slider: The part of the range that a slider covers, beside what the two words above stand for; None for
            no slider.
        by_factors: True if equal ways of the slider are equal factors and not equal differences.
    """

    least: float
    most: float
    places: int = 0
    step: float = 1
    unit: str = ""
    unit_size: int = 1
    empty: str = ""
    least_words: str = ""
    slider: tuple[float, float] | None = None
    by_factors: bool = False


@dataclass(frozen=True)
class Words:
    """Any text.

    Attributes:
        lines: Number of lines that are seen at once.
        hint: Words in the empty field.
    """

    lines: int = 1
    hint: str = ""


Control = Switch | Names | Number | Words
