"""Parts of a text, kept in little room: a reply has a hundred of them, and every reply of a session keeps its own."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Stretches:
    """Starts and ends in characters, ascending; 8 bytes each, where a pair of Python's integers takes 120.

    Attributes:
        packed: Start, end, start, end, ... as unsigned integers of C.
    """

    packed: bytes = b""

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, int]]) -> Stretches:
        """Pack these."""
        return cls(array("I", [place for pair in pairs for place in pair]).tobytes())

    def moved(self, by: int) -> Stretches:
        """Return the same parts where so many characters stand before the text."""
        return Stretches.of((start + by, end + by) for start, end in self) if by else self

    def __iter__(self) -> Iterator[tuple[int, int]]:
        places = iter(array("I", self.packed))
        return zip(places, places, strict=True)

    def __bool__(self) -> bool:
        return bool(self.packed)


NO_STRETCHES = Stretches()
