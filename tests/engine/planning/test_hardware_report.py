from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from engine.errors import Cancelled
from engine.files import write_cached
from engine.json_text import from_plain
from engine.messages.machine import FormatSpeed, HostSpeed
from engine.planning import hardware
from engine.planning.hardware import (
    MachineReport,
    hardware_hash,
    measure_report,
    read_report,
)
from engine.planning.probes import host as probe

HOST = HostSpeed(30e9, 2e-6, {"q8_0": FormatSpeed(30e9, 100e9, 0.2)})


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the measurements that were made, by stand-ins that take no time."""
    done: list[str] = []

    def host(cache: Path, progress: Callable[[str], None], check: Callable[[], None], free: int) -> HostSpeed:
        progress("memory")
        done.append("host")
        return HOST

    def disk(folder: Path, check: Callable[[], None]) -> float:
        done.append(folder.name)
        return 1e9

    monkeypatch.setattr(probe, "share_of_others", lambda begin, end: 0.0)
    monkeypatch.setattr(hardware, "models_folder", lambda: tmp_path / "models")
    monkeypatch.setattr(hardware, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(hardware, "measure_host", host)
    monkeypatch.setattr(hardware, "read_bytes_per_s", disk)
    return done


def test_measured_once_kept_and_again_on_request(measured: list[str]) -> None:
    assert read_report().speeds is None
    seen: list[float] = []
    first = measure_report(lambda what, share: seen.append(share))
    assert measured[:3] == ["host", "models", "cache"]
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert read_report().speeds == first.speeds == measure_report().speeds
    assert measured.count("host") == 1
    measure_report(again=True)
    assert measured.count("host") == 2


def test_speeds_of_a_busy_machine_are_measured_again_before_anything_is_made_of_them(
    measured: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "share_of_others", lambda begin, end: 0.3)
    assert measure_report().speeds == read_report().speeds
    assert measured.count("host") == 1
    monkeypatch.setattr(probe, "share_of_others", lambda begin, end: 0.0)
    speeds = measure_report().speeds
    assert not speeds.busy
    assert measured.count("host") == 2
    measure_report()
    assert measured.count("host") == 2


def test_other_hardware_is_measured_anew(measured: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    first = measure_report()
    monkeypatch.setattr(hardware, "_machine_name", lambda: "another")
    second = read_report()
    assert second.speeds is None
    assert hardware_hash(first) != hardware_hash(second)


@pytest.mark.parametrize("speeds", [{"host": 3}, None])
def test_speeds_of_another_version_are_measured_again(speeds: object, tmp_path: Path, measured: list[str]) -> None:
    key = hardware_hash(measure_report())
    write_cached(tmp_path / "cache" / "hardware-speeds.json", {key: speeds})
    assert read_report().speeds is None
    assert measure_report().speeds is not None


def test_damaged_speeds_are_measured_again(tmp_path: Path, measured: list[str]) -> None:
    measure_report()
    path = tmp_path / "cache" / "hardware-speeds.json"
    path.write_text(path.read_text().replace('"busy": false', '"busy": true'))
    assert read_report().speeds is None
    assert measure_report().speeds is not None


def test_a_cancel_keeps_nothing(measured: list[str]) -> None:
    def check() -> None:
        raise Cancelled("")

    with pytest.raises(Cancelled):
        measure_report(check=check)
    assert read_report().speeds is None


def test_a_report_survives_json(measured: list[str]) -> None:
    report = measure_report()
    assert from_plain(MachineReport, json.loads(json.dumps(asdict(report)))) == report
    damaged = json.loads(json.dumps(asdict(report)))
    damaged["memory"]["total_bytes"] = "much"
    with pytest.raises(ValueError, match=r"HostMemory\.total_bytes"):
        from_plain(MachineReport, damaged)
    del damaged["memory"]
    with pytest.raises(ValueError, match="memory is missing"):
        from_plain(MachineReport, damaged)
    with pytest.raises(ValueError, match="instead of an object"):
        from_plain(MachineReport, [])


def test_a_cache_that_cannot_be_written_is_no_obstacle(
    tmp_path: Path, measured: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setattr(hardware, "cache_folder", lambda: file / "below")
    assert isinstance(measure_report(), MachineReport)
