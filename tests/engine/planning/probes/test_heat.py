from __future__ import annotations

from types import SimpleNamespace

import psutil
import pytest

from engine.planning.probes.host import is_hot


def sensors(name: str, current: float, high: float | None) -> dict[str, list[SimpleNamespace]]:
    return {name: [SimpleNamespace(label="", current=current, high=high, critical=None)]}


@pytest.mark.parametrize(
    ("name", "current", "high", "hot"),
    [
        ("coretemp", 96.0, 95.0, True),
        ("coretemp", 60.0, 95.0, False),
        ("coretemp", 60.0, None, False),
        ("coretemp", 60.0, 0.0, False),
        ("nvme", 90.0, 80.0, False),
    ],
)
def test_a_processor_at_its_limit_is_hot(
    monkeypatch: pytest.MonkeyPatch, name: str, current: float, high: float | None, hot: bool
) -> None:
    monkeypatch.setattr(psutil, "sensors_temperatures", lambda: sensors(name, current, high), raising=False)
    assert is_hot() is hot


def test_drivers_that_fail_and_systems_without_sensors_know_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OSError("no")

    monkeypatch.setattr(psutil, "sensors_temperatures", fail, raising=False)
    assert not is_hot()
    monkeypatch.delattr(psutil, "sensors_temperatures", raising=False)
    assert not is_hot()
