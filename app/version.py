"""Tenon's version."""

from __future__ import annotations

_FALLBACK = "0.1.0"


def version() -> str:
    """As installed."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("tenon")
    except PackageNotFoundError:
        return _FALLBACK
