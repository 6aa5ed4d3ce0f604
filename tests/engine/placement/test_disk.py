from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from engine.placement import from_disk as disk
from engine.placement.from_disk import disk_kind

pytestmark = pytest.mark.skipif(not hasattr(os, "makedev"), reason="block devices have no numbers here")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with a solid system disk, a partition of a spinning one, and a network drive inside that."""
    mounts = [
        SimpleNamespace(device=device, mountpoint=str(tmp_path / place), fstype=kind)
        for device, place, kind in (
            ("/dev/turning1", "/", "ext4"),
            ("/dev/solid", "/", "ext4"),
            ("/dev/turning1", "big disk", "ext4"),
            ("/dev/card", "card", "ext4"),
            ("server:/export", "big disk/far", "nfs4"),
            ("tmpfs", "memory", "tmpfs"),
        )
    ]
    solid, turning, card = (tmp_path / "block" / name for name in ("solid", "turning", "card"))
    for folder, value in ((solid, "0\n"), (turning, "1\n"), (card, "0\n")):
        (folder / "queue").mkdir(parents=True)
        (folder / "queue" / "rotational").write_text(value)
    (turning / "turning1").mkdir()
    (card / "device").mkdir()
    (card / "device" / "type").write_text("SD\n")
    numbers = tmp_path / "numbers"
    numbers.mkdir()
    (numbers / "8:1").symlink_to(solid)
    (numbers / "8:17").symlink_to(turning / "turning1")
    (numbers / "179:0").symlink_to(card)
    devices = {"/dev/solid": os.makedev(8, 1), "/dev/turning1": os.makedev(8, 17), "/dev/card": os.makedev(179, 0)}
    stat = os.stat

    def stat_device(path: str, **arguments: object) -> object:
        return SimpleNamespace(st_rdev=devices[path]) if path in devices else stat(path)

    monkeypatch.setattr(disk.os, "stat", stat_device)
    monkeypatch.setattr(psutil, "disk_partitions", lambda all: mounts)
    monkeypatch.setattr(disk, "_BLOCK_DEVICES", numbers)
    return tmp_path


def test_each_kind_is_known_by_the_mount_that_is_nearest(machine: Path) -> None:
    assert disk_kind(machine / "model") == "solid"
    assert disk_kind(machine / "big disk" / "model") == "spinning"
    assert disk_kind(machine / "card" / "model") == "card"
    assert disk_kind(machine / "big disk" / "far" / "model") == "network"
    assert disk_kind(machine / "big disk" / "farther" / "model") == "spinning"
    assert disk_kind(machine / "memory" / "model") is None


def test_a_virtual_disk_is_not_believed(machine: Path) -> None:
    turning = machine / "block" / "turning"
    turning.rename(turning.with_name("vda"))
    (machine / "numbers" / "8:17").unlink()
    (machine / "numbers" / "8:17").symlink_to(turning.with_name("vda"))
    assert disk_kind(machine / "big disk" / "model") is None


def test_nothing_is_said_where_the_system_says_nothing(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(all: bool) -> list[object]:
        raise FileNotFoundError("/proc")

    monkeypatch.setattr(psutil, "disk_partitions", nothing)
    assert disk_kind(machine / "model") is None
    monkeypatch.setattr(psutil, "disk_partitions", lambda all: [])
    assert disk_kind(machine / "model") is None
