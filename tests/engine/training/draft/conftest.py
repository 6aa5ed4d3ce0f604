"""Trainings whose length is a number of steps, and measurements that are taken once."""

from __future__ import annotations

import pytest

from engine.training import calibration, making, trainer


class TickingTime:
    """A tenth of a second later whenever it is looked at, which the trainer does once a step."""

    def __init__(self) -> None:
        self._looks = 0

    def seconds(self) -> float:
        """So far."""
        self._looks += 1
        return self._looks / 10


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a training's minute have 600 steps, however fast the machine is."""
    for module in (making, trainer):
        monkeypatch.setattr(module, "running_time", TickingTime)


@pytest.fixture
def measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure each width in one turn instead of several and behind short texts, which tells little of the machine."""
    for name, value in (("LENGTHS", (32, 64)), ("_TURNS", 1), ("_SETTLING_S", 0.0), ("_TOKENS", 6)):
        monkeypatch.setattr(calibration, name, value)
