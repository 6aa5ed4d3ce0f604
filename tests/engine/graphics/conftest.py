"""A graphics chip for tests: Mesa's llvmpipe, which computes on the processor."""

from __future__ import annotations

import pytest

from engine.graphics import adapters
from engine.graphics.adapters import Chip, find_adapters, why_none
from engine.graphics.known import SOFTWARE, SWITCH, Known, keep_known


@pytest.fixture(scope="session")
def chip() -> Chip:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SWITCH, SOFTWARE)
        found = [*find_adapters()]
        if not found:
            pytest.skip(why_none())
        return Chip(found[0])


@pytest.fixture(autouse=True)
def rested(chip: Chip, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the software chip be known, and let none rest because of another test."""
    monkeypatch.setenv(SWITCH, SOFTWARE)
    keep_known(Known(chips=(chip.adapter,)))
    monkeypatch.setitem(adapters._opened, chip.adapter.device, chip)
    monkeypatch.setattr(adapters, "_resting", set())
