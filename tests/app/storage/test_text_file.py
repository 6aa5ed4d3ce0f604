from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.storage import files
from app.storage.files import read_import, write_export
from engine.errors import FileRefused, ImportInvalid, OutOfDisk


def test_what_cannot_be_imported_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ImportInvalid, match="cannot be read"):
        read_import(tmp_path / "gone.json")
    (tmp_path / "a.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(ImportInvalid, match="not UTF-8"):
        read_import(tmp_path / "a.json")
    monkeypatch.setattr(files, "_MAX_IMPORT_BYTES", 3)
    with pytest.raises(ImportInvalid, match="larger than"):
        read_import(tmp_path / "a.json")


def test_an_export_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "chat.md"
    write_export(path, "Grüße\n")
    assert path.read_bytes() == "Grüße\n".encode()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutOfDisk, match="disk is full"):
        write_export(path, "other")
    assert path.read_bytes() == "Grüße\n".encode()
    assert [file.name for file in tmp_path.iterdir()] == ["chat.md"]
    monkeypatch.undo()
    with pytest.raises(FileRefused, match="is not there"):
        write_export(tmp_path / "no" / "chat.md", "x")
