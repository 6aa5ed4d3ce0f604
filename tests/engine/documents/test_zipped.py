"""Archives of documents: what they unpack to is bounded before any of it is read."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from engine.documents import archive as archive_module
from engine.documents.pages import Problem, Unreadable


@pytest.mark.parametrize(
    ("bound", "sizes"),
    [("MAX_UNPACKED_BYTES", [400, 400, 300]), ("MAX_PART_BYTES", [1001]), ("MAX_FILES", [0] * 1001)],
)
def test_each_bound_of_an_archive_holds_by_itself(
    bound: str, sizes: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = "xml" if bound == "MAX_PART_BYTES" else "png"
    for more, name in ((0, "exact.docx"), (1, "more.docx")):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for at, size in enumerate(sizes[1 - more :] if bound == "MAX_FILES" else sizes):
                archive.writestr(f"word/{at}.{kind}", b" " * (size if more or at or bound == "MAX_FILES" else size - 1))
    limit = {"MAX_UNPACKED_BYTES": 1099, "MAX_PART_BYTES": 1000, "MAX_FILES": 1000}[bound]
    monkeypatch.setattr(archive_module, bound, limit)
    archive_module.open_archive(tmp_path / "exact.docx").close()
    with pytest.raises(Unreadable) as refused:
        archive_module.open_archive(tmp_path / "more.docx")
    assert refused.value.problem is Problem.UNPACKS_TOO_LARGE
