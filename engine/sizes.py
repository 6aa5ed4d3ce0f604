"""Sizes in words."""

from __future__ import annotations

from engine.sentences import figure, say


def readable(size_bytes: float) -> str:
    """Return a size for a user, in powers of a thousand."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size_bytes >= size:
            return f"{figure(size_bytes / size, '.3g')} {unit}"
    return say("{number} bytes", number=f"{size_bytes:.0f}")
