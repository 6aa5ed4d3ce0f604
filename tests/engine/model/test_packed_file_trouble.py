"""Everything that can be wrong with a converted model's file, its folder and its disk, two writing it at once."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.errors import Cancelled, OutOfDisk
from engine.model import converted
from engine.model.config import read_config
from engine.model.converted import Conversion, ConversionKeeper, Converted
from engine.model.packed_loader import load_packed
from engine.model.weight_format import weight_format
from engine.weights import packed_file as weights_file
from engine.weights.checkpoint import Checkpoint
from engine.weights.packed_file import PackedFile, PackedFileUnusable, write_packed_file
from tests.support.packed_models import PACKED, logits

ROOT = Path(__file__).resolve().parents[3]


def load(folder: Path, weights: str = "q8_0", **hooks: Any) -> Converted:
    """The converted file of a model, made where it has to be."""
    checkpoint = Checkpoint(folder)
    cache = folder.parent / "cache"
    return Conversion(checkpoint, read_config(checkpoint), weight_format(weights), cache).open(**hooks)


def text(folder: Path, weights: str = "q8_0") -> torch.Tensor:
    """Logits of a model that is read from its converted file."""
    checkpoint = Checkpoint(folder)
    source = load(folder, weights)
    loaded = load_packed(checkpoint, read_config(checkpoint), weight_format(weights), source=source)
    return logits(loaded, folder)


def packed_file(folder: Path, weights: str = "q8_0") -> Path:
    """Path of the file."""
    return folder / f"tenon-{weights}.packed"


@pytest.fixture
def folder(tmp_path: Path, llama_folder: Path) -> Path:
    """A copy of a checkpoint that may be written to."""
    return Path(shutil.copytree(llama_folder, tmp_path / "model", ignore=shutil.ignore_patterns("*.packed")))


@pytest.mark.parametrize("weights", PACKED)
@pytest.mark.parametrize("damage", ["cut", "index", "empty", "version"])
def test_a_damaged_or_foreign_file_is_made_again(
    damage: str, weights: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        if damage == "version":
            patch.setattr(weights_file, "VERSION", weights_file.VERSION - 1)
        before = text(folder, weights)
    path = packed_file(folder, weights)
    data = bytearray(path.read_bytes())
    if damage == "index":
        data[-100] ^= 1
    damaged = bytes({"cut": data[:-100], "empty": b""}.get(damage, data))
    path.write_bytes(damaged)
    assert torch.equal(text(folder, weights), before)
    assert path.read_bytes() != damaged


def test_any_flipped_bit_of_any_section_is_found(folder: Path) -> None:
    load(folder)
    checkpoint = Checkpoint(folder)
    whole = packed_file(folder).read_bytes()
    sections = PackedFile(packed_file(folder), checkpoint.digest(), "q8_0").sections
    assert len(sections) > 20
    for section in sections.values():
        data = bytearray(whole)
        data[section.offset + section.size_bytes * 2 // 3] ^= 32
        packed_file(folder).write_bytes(data)
        with pytest.raises(PackedFileUnusable, match=f"{section.name} is damaged"):
            PackedFile(packed_file(folder), checkpoint.digest(), "q8_0").check(lambda: None)


def test_a_matrix_with_other_bytes_than_its_shape_needs_is_made_again(folder: Path) -> None:
    """Such a file is whole, so that no checksum shows it; the kernels would read past the section's end."""
    before = text(folder)
    checkpoint = Checkpoint(folder)
    packed = PackedFile(packed_file(folder), checkpoint.digest(), "q8_0")

    def sections() -> Iterator[tuple[str, torch.Tensor, dict[str, Any]]]:
        for name, section in packed.sections.items():
            less = 64 if name == "model.layers.1.mlp.down_proj.weight" else 0
            yield name, packed.bytes_of(section)[less:], dict(section.layout)

    write_packed_file(packed_file(folder), checkpoint.digest(), "q8_0", sections())
    assert torch.equal(text(folder), before)


FORGED: tuple[dict[str, Any], ...] = (
    {"offset": -4096},
    {"offset": 1 << 62},
    {"offset": 4096.0},
    {"size_bytes": -1},
    {"size_bytes": 1e999},
    {"checksum": None},
    {"name": 5},
    {"name": "model.layers.9.mlp.down_proj.weight"},
    {"layout": []},
    {"layout": {"kind": 8, "shape": [64, 32]}},
    {"layout": {"kind": 10**9, "shape": [64, 96]}},
    {"layout": {"kind": "8", "shape": [64, 96]}},
    {"layout": {"kind": 8, "shape": [64, float("nan")]}},
    {"layout": {"kind": 8, "shape": 64}},
)


@pytest.mark.parametrize("forged", FORGED, ids=str)
def test_a_forged_index_is_no_obstacle(folder: Path, forged: dict[str, Any]) -> None:
    """Its checksum is right, so that what it says must be looked at."""
    load(folder)
    path = packed_file(folder)
    data = path.read_bytes()
    offset, length, _, magic = struct.unpack("<QQQ8s", data[-32:])
    index = json.loads(data[offset : offset + length])
    index["sections"][0] |= forged
    encoded = json.dumps(index).encode()
    trailer = struct.pack("<QQQ8s", offset, len(encoded), zlib.crc32(encoded), magic)
    path.write_bytes(data[:offset] + encoded + trailer)
    assert len(load(folder).packed.sections) == len(index["sections"])
    assert path.read_bytes() == data


def test_a_folder_that_cannot_be_written_to_uses_the_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_writes_to(folder, monkeypatch)
    before = text(folder)
    assert not packed_file(folder).exists()
    assert len(list((folder.parent / "cache").iterdir())) == 1
    monkeypatch.setattr(converted, "write_packed_file", None)
    assert torch.equal(text(folder), before)


def test_a_file_that_cannot_be_opened_for_writing_uses_the_cache(folder: Path) -> None:
    folder.joinpath(f"{packed_file(folder).name}.{os.getpid()}.part").mkdir()  # where it would be written
    before = text(folder)
    assert not packed_file(folder).exists()
    assert len(list((folder.parent / "cache").glob("*.packed"))) == 1
    assert torch.equal(text(folder), before)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on the size of files")
def test_a_disk_that_fills_up_is_said_and_nothing_is_left_behind(folder: Path) -> None:
    """Files may grow to 100 kB here: writing fails in the middle, as it does on a full disk."""
    program = (
        "import resource, sys; from pathlib import Path; from engine.errors import OutOfDisk\n"
        "from tests.engine.model.test_packed_file_trouble import load\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try: load(Path(sys.argv[1]))\n"
        "except OutOfDisk as error: print(error.message, error.details)"
    )
    before = sorted(path.name for path in folder.iterdir())
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "q8_0 weights could not be written" in done.stdout
    assert "File too large" in done.stdout
    assert sorted(path.name for path in folder.iterdir()) == before
    assert list((folder.parent / "cache").iterdir()) == []


def test_a_disk_without_room_is_said_before_anything_is_written_with_what_is_enough(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(path.name for path in folder.iterdir())
    free = SimpleNamespace(free=10_000_000)
    monkeypatch.setattr(converted.shutil, "disk_usage", lambda path: free)
    with monkeypatch.context() as patch:
        patch.setattr(converted, "write_packed_file", None)
        with pytest.raises(OutOfDisk, match=r"q8_0 weights could not be written.*make 0\.02 GB") as caught:
            load(folder)
    assert "0.01 GB are free" in caught.value.details
    assert sorted(path.name for path in folder.iterdir()) == before
    free.free = 20_000_000
    load(folder)
    assert packed_file(folder).exists()


def test_no_room_anywhere_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_writes_to(folder.parent, monkeypatch)
    with pytest.raises(OutOfDisk, match="q8_0 weights could not be written"):
        load(folder)


def refuse_writes_to(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = write_packed_file

    def refuse(path: Path, *arguments: object) -> None:
        if folder in path.parents:
            raise OSError(30, "Read-only file system")
        real(path, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(converted, "write_packed_file", refuse)


def test_a_cancel_while_packing_leaves_nothing_behind(folder: Path) -> None:
    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls > 12:
            raise Cancelled("stop")

    with pytest.raises(Cancelled):
        load(folder, check=check)
    assert not list(folder.glob("*.packed*"))


@pytest.mark.slow
def test_two_processes_pack_the_same_model_at_once(folder: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from tests.engine.model.test_packed_file_trouble import load;"
        "load(Path(sys.argv[1]))"
    )

    children = [
        subprocess.Popen([sys.executable, "-c", program, str(folder)], cwd=ROOT, env={**os.environ}) for _ in range(2)
    ]
    assert [child.wait(60) for child in children] == [0, 0]
    assert [path.name for path in folder.glob("*.packed*")] == ["tenon-q8_0.packed"]
    load(folder)


def kept_load(folder: Path, check: Callable[[], None] = lambda: None) -> torch.Tensor:
    """Logits of a model that is loaded from the checkpoint itself, while the file for the next load is written."""
    checkpoint, chosen = Checkpoint(folder), weight_format("q8_0")
    config = read_config(checkpoint)
    with ConversionKeeper(Conversion(checkpoint, config, chosen, folder.parent / "cache")) as keeper:
        loaded = load_packed(checkpoint, config, chosen, check=check, keep=keeper.take)
    for thread in threading.enumerate():
        if thread.name == "tenon-keeper":
            thread.join()
    return logits(loaded, folder)


@pytest.mark.parametrize("unusual", [False, True])
def test_a_load_keeps_what_it_converts(unusual: bool, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if unusual:  # a matrix that only 16 bits hold
        weights = load_file(folder / "model.safetensors")
        weights["model.layers.1.mlp.down_proj.weight"][3, 5] = 1e7  # its scale is more than half precision holds
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    before = kept_load(folder)
    monkeypatch.setattr(converted, "write_packed_file", None)
    assert torch.equal(text(folder), before)
    assert bool(load(folder).refused) is unusual


def test_a_load_that_fails_keeps_nothing(folder: Path) -> None:
    calls = iter(range(20))

    def check() -> None:
        if next(calls, None) is None:
            raise Cancelled("stop")

    with pytest.raises(Cancelled):
        kept_load(folder, check)
    assert not list(folder.glob("*.packed*"))


def test_a_load_does_not_fail_with_the_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = text(folder)
    packed_file(folder).unlink()
    refuse_writes_to(folder.parent, monkeypatch)
    assert torch.equal(kept_load(folder), expected)
    assert not list(folder.glob("*.packed*"))
