from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import Cancelled
from engine.planning.probes import disk_speed
from engine.planning.probes.disk_speed import file_bytes_per_s, read_bytes_per_s
from engine.planning.probes.disks import disk_kind, read_disk


def block_device(devices: Path, number: str, name: str, rotational: str) -> None:
    disk = devices.parent / "block" / name
    (disk / "queue").mkdir(parents=True)
    (disk / "queue" / "rotational").write_text(f"{rotational}\n")
    devices.mkdir(exist_ok=True)
    (devices / number).symlink_to(disk)


def test_kinds_of_disks(tmp_path: Path) -> None:
    devices = tmp_path / "dev"
    block_device(devices, "8:0", "sda", "1")
    block_device(devices, "259:0", "nvme0n1", "0")
    block_device(devices, "254:0", "vda", "1")
    partition = tmp_path / "block" / "sda" / "sda1"
    partition.mkdir()
    (devices / "8:1").symlink_to(partition)
    folders = {name: tmp_path / name for name in ("spinning", "ssd", "virtual", "share", "ram", "odd one")}
    for folder in folders.values():
        folder.mkdir()
    rows = (
        ("8:1", "spinning", "ext4", "/dev/sda1"),
        ("259:0", "ssd", "ext4", "/dev/nvme0n1"),
        ("254:0", "virtual", "ext4", "/dev/vda"),
        ("0:50", "share", "nfs4", "server:/models"),
        ("0:51", "ram", "tmpfs", "tmpfs"),
        ("0:52", "odd\\040one", "btrfs", "/nowhere"),
    )
    mounts = tmp_path / "mountinfo"
    lines = ["20 1 8:0 / / rw - ext4 /dev/sda rw"]
    lines += [
        f"{at} 20 {number} / {tmp_path}/{point} rw shared:1 - {kind} {source} rw"
        for at, (number, point, kind, source) in enumerate(rows, 21)
    ]
    mounts.write_text("\n".join([*lines, "", "broken"]))
    kinds = {name: disk_kind(folder, mounts, devices) for name, folder in folders.items()}
    assert kinds == {
        "spinning": "spinning", "ssd": "ssd", "virtual": "virtual", "share": "network", "ram": "memory",
        "odd one": "unknown",
    }  # fmt: skip
    assert disk_kind(tmp_path, mounts, devices) == "spinning"
    assert disk_kind(tmp_path, tmp_path / "none", devices) == "unknown"


def test_a_folder_that_is_not_there_lies_on_its_parents_disk(tmp_path: Path) -> None:
    found = read_disk("models", tmp_path / "not" / "there")
    assert found.free_bytes > 0
    assert not (tmp_path / "not").exists()


def test_reading_is_measured_with_a_file_that_is_there_or_a_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_speed, "_FILE_BYTES", 8 << 20)
    assert (read_bytes_per_s(tmp_path, lambda: None) or 0) > 0
    assert list(tmp_path.iterdir()) == []
    kept = tmp_path / "below" / "weights.bin"
    kept.parent.mkdir()
    kept.write_bytes(bytes(8 << 20))
    read: list[Path] = []
    monkeypatch.setattr(disk_speed, "file_bytes_per_s", lambda path, check: read.append(path) or 1.0)
    assert read_bytes_per_s(tmp_path, lambda: None) == 1.0
    assert read == [kept]


def test_no_room_means_no_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_speed, "_RESERVE_BYTES", 1 << 62)
    assert read_bytes_per_s(tmp_path, lambda: None) is None
    empty = tmp_path / "empty"
    empty.touch()
    with pytest.raises(OSError, match="too small"):
        file_bytes_per_s(empty, lambda: None)


def test_a_cancel_leaves_no_file(tmp_path: Path) -> None:
    def check() -> None:
        raise Cancelled("")

    with pytest.raises(Cancelled):
        read_bytes_per_s(tmp_path, check)
    assert list(tmp_path.iterdir()) == []
