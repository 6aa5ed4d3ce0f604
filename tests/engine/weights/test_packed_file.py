from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.weights import packed_file
from engine.weights.packed_file import ALIGNMENT_BYTES, PackedFile, PackedFileUnusable, write_packed_file

TENSORS = {
    "one": torch.arange(10_000, dtype=torch.int16).reshape(100, 100),
    "two": torch.randn(7, 3),
    "empty": torch.empty(0),
    "three": torch.randint(0, 255, (4097,), dtype=torch.uint8),
}


def sections() -> Iterator[tuple[str, torch.Tensor, dict[str, Any]]]:
    for name, tensor in TENSORS.items():
        yield name, tensor, {"shape": list(tensor.shape)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "model.packed"
    path.parent.mkdir()
    write_packed_file(path, "digest", "q8_0", sections())
    return path


def nothing(*_: object) -> None:
    pass


def test_what_was_written_is_read_back(path: Path) -> None:
    packed = PackedFile(path, "digest", "q8_0")
    packed.check(nothing)
    for name, tensor in TENSORS.items():
        assert packed.sections[name].layout == {"shape": list(tensor.shape)}
        found = packed.bytes_of(packed.sections[name])
        assert packed.sections[name].offset % ALIGNMENT_BYTES == 0
        assert torch.equal(found.view(tensor.dtype).reshape(tensor.shape), tensor)
    assert packed.size_bytes == sum(tensor.nbytes for tensor in TENSORS.values())
    assert [file.name for file in path.parent.iterdir()] == ["model.packed"]


@pytest.mark.parametrize("keep", [0, 1, 20, 31, 5000, -32, -1])
def test_a_file_cut_short_is_known(path: Path, keep: int) -> None:
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(PackedFileUnusable):
        PackedFile(path, "digest", "q8_0")


@pytest.mark.parametrize("name", ["one", "two", "three"])
@pytest.mark.parametrize("place", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("bit", [1, 128])
def test_a_flipped_bit_is_found_and_its_section_named(path: Path, name: str, place: float, bit: int) -> None:
    data = bytearray(path.read_bytes())
    section = PackedFile(path, "digest", "q8_0").sections[name]
    data[section.offset + int(place * (section.size_bytes - 1))] ^= bit
    path.write_bytes(data)
    with pytest.raises(PackedFileUnusable, match=f"{name} is damaged"):
        PackedFile(path, "digest", "q8_0").check(nothing)


def test_pages_that_changed_places_are_found(path: Path) -> None:
    data = bytearray(path.read_bytes())
    assert data[:4096] != data[4096:8192]
    data[:4096], data[4096:8192] = data[4096:8192], data[:4096]
    path.write_bytes(data)
    with pytest.raises(PackedFileUnusable, match="one is damaged"):
        PackedFile(path, "digest", "q8_0").check(nothing)


def test_a_flipped_bit_in_the_index_or_the_trailer_is_found(path: Path) -> None:
    whole = path.read_bytes()
    begin = int.from_bytes(whole[-32:-24], "little")
    assert whole[begin:].startswith(b'{"version"')
    for place in range(begin, len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(PackedFileUnusable):
            PackedFile(path, "digest", "q8_0")


@pytest.mark.parametrize(("source", "weights"), [("other", "q8_0"), ("digest", "q4_k_m")])
def test_a_file_of_another_model_or_format_is_not_taken(path: Path, source: str, weights: str) -> None:
    with pytest.raises(PackedFileUnusable, match="another"):
        PackedFile(path, source, weights)


def test_another_version_is_not_taken(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_file, "VERSION", packed_file.VERSION + 1)
    with pytest.raises(PackedFileUnusable, match="version"):
        PackedFile(path, "digest", "q8_0")


def test_no_file_is_unusable_too(tmp_path: Path) -> None:
    with pytest.raises(PackedFileUnusable):
        PackedFile(tmp_path / "none", "digest", "q8_0")


def test_a_failure_in_mid_write_leaves_the_old_file_and_no_other(path: Path) -> None:
    before = path.read_bytes()

    def broken() -> Iterator[tuple[str, torch.Tensor, dict[str, Any]]]:
        yield "one", torch.zeros(10), {}
        raise OSError("No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_packed_file(path, "digest", "q8_0", broken())
    assert path.read_bytes() == before
    assert len(list(path.parent.iterdir())) == 1
