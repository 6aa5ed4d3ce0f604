from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import Cancelled
from engine.planning.probes import disks
from engine.planning.probes.disks import file_bytes_per_s, read_bytes_per_s, read_disk


def test_a_folder_that_is_not_there_lies_on_its_parents_disk(tmp_path: Path) -> None:
    found = read_disk("models", tmp_path / "not" / "there")
    assert found.free_bytes > 0
    assert found.kind in ("solid", "spinning", "network", "unknown")
    assert not (tmp_path / "not").exists()


def test_reading_is_measured_with_a_file_that_is_there_or_a_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disks, "_FILE_BYTES", 8 << 20)
    assert (read_bytes_per_s(tmp_path, lambda: None) or 0) > 0
    assert list(tmp_path.iterdir()) == []
    kept = tmp_path / "below" / "weights.bin"
    kept.parent.mkdir()
    kept.write_bytes(bytes(8 << 20))
    read: list[Path] = []
    monkeypatch.setattr(disks, "file_bytes_per_s", lambda path, check: read.append(path) or 1.0)
    assert read_bytes_per_s(tmp_path, lambda: None) == 1.0
    assert read == [kept]


def test_no_room_means_no_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disks, "_RESERVE_BYTES", 1 << 62)
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
