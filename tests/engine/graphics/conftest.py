"""A graphics chip for tests: Mesa's llvmpipe, which computes on the processor."""

from __future__ import annotations

import pytest

from engine.graphics import adapters
from engine.graphics.adapters import SOFTWARE, SWITCH, Chip, find_adapters, open_chip, why_none


@pytest.fixture(scope="session")
def chip() -> Chip:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SWITCH, SOFTWARE)
        found = find_adapters()
        if not found:
            pytest.skip(why_none())
        return open_chip(found[0].device)


@pytest.fixture(autouse=True)
def rested(chip: Chip, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the software chip count, and let none rest because of another test."""
    monkeypatch.setenv(SWITCH, SOFTWARE)
    monkeypatch.setattr(adapters, "_resting", set())
