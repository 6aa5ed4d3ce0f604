"""Division of a table's width among its columns."""

from __future__ import annotations

from collections.abc import Sequence

_STEPS = 40  # halvings, after which a width is right to far less than a pixel


def column_widths(
    natural: Sequence[float], least: Sequence[float], width: float, roomy: float
) -> list[float]:
    """Widths of columns, in px: they fill the width, and go beyond it only where it cannot hold the least.

    Spare room goes to all alike; a shortage is taken from the widest first.

    Args:
        natural: Width of each column when nothing in it is wrapped.
        least: Least width of each; not more than its natural width.
        width: Room for all of them.
        roomy: Width of a column that has the text for it, in a table that is scrolled sideways anyway.
    """
    spare = width - sum(natural)
    if spare >= 0:
        return [column + spare / len(natural) for column in natural]
    if sum(least) > width:
        return _capped(natural, least, roomy)
    below, above = 0.0, max(natural)
    for _ in range(_STEPS):
        cap = (below + above) / 2
        if sum(_capped(natural, least, cap)) > width:
            above = cap
        else:
            below = cap
    return _capped(natural, least, below)


def _capped(natural: Sequence[float], least: Sequence[float], cap: float) -> list[float]:
    return [max(low, min(column, cap)) for column, low in zip(natural, least, strict=True)]
