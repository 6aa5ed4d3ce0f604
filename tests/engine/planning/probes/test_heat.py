from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from engine.messages.machine import HeldDown
from engine.planning.probes import host
from engine.planning.probes.host import is_hot, read_power


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


@pytest.mark.parametrize(
    "tool",
    [False, pytest.param(True, marks=pytest.mark.skipif(sys.platform == "win32", reason="the tool is a script"))],
    ids=["file", "vcgencmd"],
)
@pytest.mark.parametrize(
    ("flags", "now", "earlier"),
    [
        (0x0, (), ()),
        (0x1, ("voltage",), ()),
        (0x50005, ("voltage",), ()),
        (0xE0008, ("heat",), ()),
        (0xF0000, (), ("voltage", "heat")),
        (0x2, ("heat",), ()),
        (0x50000, (), ("voltage",)),
    ],
    ids=["none", "weak", "weak-slowed", "hot", "were-both", "capped", "was-weak"],
)
def test_a_raspberry_pi_says_what_holds_it_down(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    flags: int,
    now: tuple[HeldDown, ...],
    earlier: tuple[HeldDown, ...],
    tool: bool,
) -> None:
    """Bits 0 to 3: too little voltage, capped, throttled, too hot; bits 16 to 19: any of these since the start."""
    monkeypatch.setattr(host, "_FLAGS_OF_BOARDS", str(tmp_path / "soc*" / "*firmware" / "get_throttled"))
    if tool:
        program = tmp_path / "vcgencmd"
        program.write_text(f'#!/bin/sh\n[ "$1" = get_throttled ] && echo throttled=0x{flags:x}\n')
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    else:
        file = tmp_path / "soc" / "soc:firmware" / "get_throttled"
        file.parent.mkdir(parents=True)
        file.write_text(f"{flags:x}\n")
    power = read_power()
    assert (power.held_down, power.was_held_down) == (now, earlier)
    assert len(power.troubles) == len(now) + len(earlier)
    assert all(sentence.endswith(".") for sentence in power.troubles)


@pytest.mark.parametrize("said", ["", "nonsense", "throttled="])
def test_flags_that_cannot_be_read_say_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str) -> None:
    (tmp_path / "get_throttled").write_text(said)
    monkeypatch.setenv("PATH", str(tmp_path))  # this machine may be a board with the tool
    monkeypatch.setattr(host, "_FLAGS_OF_BOARDS", str(tmp_path / "get_throttled"))
    assert read_power().troubles == ()
