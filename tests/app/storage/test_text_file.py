from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.storage import text_file
from app.storage.text_file import read_attachment, read_import, write_export
from engine.errors import ImportInvalid, InvalidOption, OutOfDisk


def test_a_text_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "Übung 1.txt").write_text("Grüße", encoding="utf-8")
    file = read_attachment(tmp_path / "Übung 1.txt")
    assert (file.name, file.size_bytes, file.text) == ("Übung 1.txt", 7, "Grüße")


def test_what_cannot_be_attached_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidOption, match="is not a file"):
        read_attachment(tmp_path)
    with pytest.raises(InvalidOption, match=r"gone\.txt is not there any more"):
        read_attachment(tmp_path / "gone.txt")
    (tmp_path / "large.txt").write_bytes(b"x" * (2 << 20))
    with pytest.raises(InvalidOption, match=r"2\.0 MiB"):
        read_attachment(tmp_path / "large.txt")

    def refuse(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "a.txt").write_text("x")
    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(InvalidOption, match=r"a\.txt cannot be read \(Permission denied\)"):
        read_attachment(tmp_path / "a.txt")


def test_what_cannot_be_imported_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ImportInvalid, match="cannot be read"):
        read_import(tmp_path / "gone.json")
    (tmp_path / "a.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(ImportInvalid, match="not UTF-8"):
        read_import(tmp_path / "a.json")
    monkeypatch.setattr(text_file, "_MAX_IMPORT_BYTES", 3)
    with pytest.raises(ImportInvalid, match="larger than"):
        read_import(tmp_path / "a.json")


def test_an_export_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "chat.md"
    write_export(path, "Grüße\n")
    assert path.read_bytes() == "Grüße\n".encode()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutOfDisk, match="No space left"):
        write_export(path, "other")
    assert path.read_bytes() == "Grüße\n".encode()
    assert [file.name for file in tmp_path.iterdir()] == ["chat.md"]
    monkeypatch.undo()
    with pytest.raises(OutOfDisk, match="choose another folder"):
        write_export(tmp_path / "no" / "chat.md", "x")
