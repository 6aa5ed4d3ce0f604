"""A checkpoint folder that is not whole is refused with one sentence that says what to do."""

from __future__ import annotations

import json
import os
import shutil
import threading
from pathlib import Path

import pytest
import torch

from engine.errors import (
    CheckpointError,
    ConfigInvalid,
    ModelNotFound,
    UnsupportedModel,
    WeightsCorrupt,
    WeightsMissing,
)
from engine.gguf.stored_tensor import PLAIN
from engine.weights.checkpoint import Checkpoint
from engine.weights.direct_reader import Piece, read_pieces
from tests.support.checkpoints import write_checkpoint


@pytest.fixture
def folder(llama_folder: Path, tmp_path: Path) -> Path:
    """A copy that a test may break."""
    return Path(shutil.copytree(llama_folder, tmp_path / "model", ignore=shutil.ignore_patterns("*.packed")))


@pytest.fixture
def sharded(tmp_path: Path) -> Path:
    return write_checkpoint(tmp_path / "sharded", shard_bytes=100_000)


def refusal(folder: Path, kind: type[CheckpointError]) -> str:
    with pytest.raises(kind) as caught:
        Checkpoint(folder)
    message = caught.value.message
    assert message.endswith(".")
    assert "\n" not in message
    return message


def test_tensors_read_as_transformers_wrote_them(llama_folder: Path) -> None:
    from safetensors.torch import load_file

    checkpoint = Checkpoint(llama_folder)
    written = load_file(llama_folder / "model.safetensors")
    assert checkpoint.names == set(written)
    for name, tensor in written.items():
        assert checkpoint.shape(name) == tuple(tensor.shape)
        assert PLAIN[checkpoint.types[name]] == tensor.dtype
        assert torch.equal(checkpoint.tensor(name), tensor)


def test_shards_read_as_one_file(sharded: Path, llama_folder: Path) -> None:
    assert len(list(sharded.glob("*.safetensors"))) > 2
    shards, single = Checkpoint(sharded), Checkpoint(llama_folder)
    assert shards.names == single.names
    assert all(torch.equal(shards.tensor(name), single.tensor(name)) for name in single.names)


@pytest.mark.parametrize("stored", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("wanted", [torch.float32, torch.bfloat16])
def test_slices_convert_to_the_type_asked_for(
    tmp_path: Path, stored: torch.dtype, wanted: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.weights.direct_reader.PIECE_BYTES", 1000)
    checkpoint = Checkpoint(write_checkpoint(tmp_path / "model", dtype=stored, tokenizer=False))
    name = "model.embed_tokens.weight"
    whole = torch.full((2 * checkpoint.shape(name)[0], checkpoint.shape(name)[1]), torch.nan, dtype=wanted)
    half = whole[: len(whole) // 2]
    looks: list[None] = []
    counts = list(checkpoint.read(name, half, lambda: looks.append(None)))
    assert torch.equal(half, checkpoint.tensor(name).to(wanted))
    assert whole[len(half) :].isnan().all()
    assert sum(counts) == checkpoint.stored_bytes(name)
    assert max(counts) <= 1000
    assert len(looks) == len(counts) > 10


def test_each_piece_meets_the_thread_that_read_it_before_it_is_handed_out(
    llama_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.weights.direct_reader.PIECE_BYTES", 1000)
    checkpoint = Checkpoint(llama_folder)
    tensors = [checkpoint.stored(name) for name in checkpoint.names]
    met: dict[tuple[str, int], bytes] = {}

    def meet(piece: Piece) -> None:
        assert threading.current_thread() is not threading.main_thread()
        met[piece.stored.name, piece.first] = piece.raw.numpy().tobytes()

    found = []
    for piece in read_pieces(checkpoint.files, tensors, lambda: None, each=meet):
        found.append((piece.stored.name, piece.first))
        assert met[found[-1]] == piece.raw.numpy().tobytes()
    assert sorted(found) == sorted(met)
    assert len(found) > 100

    def fail(piece: Piece) -> None:
        raise MemoryError

    with pytest.raises(MemoryError):
        list(read_pieces(checkpoint.files, tensors, lambda: None, each=fail))


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    assert "nowhere" in refusal(tmp_path / "nowhere", ModelNotFound)


def test_config_json_must_be_there_and_readable(folder: Path) -> None:
    (folder / "config.json").write_text("{")
    assert "config.json" in refusal(folder, ConfigInvalid)
    (folder / "config.json").write_text("[]")
    refusal(folder, ConfigInvalid)
    (folder / "config.json").write_text("{}")
    assert "architecture" in refusal(folder, ConfigInvalid)
    (folder / "config.json").unlink()
    assert "config.json" in refusal(folder, ConfigInvalid)


@pytest.mark.parametrize(("other", "word"), [(None, "no weights"), ("pytorch_model.bin", "PyTorch")])
def test_safetensors_are_asked_for_when_there_are_none(folder: Path, other: str | None, word: str) -> None:
    (folder / "model.safetensors").unlink()
    if other:
        (folder / other).write_bytes(b"x")
    message = refusal(folder, WeightsMissing)
    assert word in message
    assert "safetensors" in message


def test_a_missing_shard_is_named(sharded: Path) -> None:
    gone = sorted(sharded.glob("*.safetensors"))[1]
    gone.unlink()
    assert gone.name in refusal(sharded, WeightsMissing)


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"weight_map": {"a": "../config.json"}}'])
def test_a_broken_index_is_refused(sharded: Path, text: str) -> None:
    (sharded / "model.safetensors.index.json").write_text(text)
    assert "index" in refusal(sharded, WeightsCorrupt)


@pytest.mark.parametrize("kept", [0.999, 0.5, 0.001])
def test_a_truncated_file_says_how_much_is_missing(folder: Path, kept: float) -> None:
    weights = folder / "model.safetensors"
    size = int(weights.stat().st_size * kept)
    with weights.open("r+b") as file:
        file.truncate(size)
    message = refusal(folder, WeightsCorrupt)
    assert "model.safetensors is truncated" in message
    assert str(size) in message


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"abc",
        b"<html>Not found, and long enough to look like something</html>",
        (5).to_bytes(8, "little") + b"[1,2]",
        (4).to_bytes(8, "little") + b"\xff\xfe{}",
        (12).to_bytes(8, "little") + b'{"a": "abc"}',
    ],
)
def test_another_file_under_the_name_is_refused(folder: Path, content: bytes) -> None:
    (folder / "model.safetensors").write_bytes(content)
    assert "model.safetensors" in refusal(folder, WeightsCorrupt)


def test_bytes_that_do_not_match_a_shape_are_refused(folder: Path) -> None:
    header = json.dumps({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}}).encode()
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
    assert "a do not match" in refusal(folder, WeightsCorrupt)


def test_an_integer_tensor_is_refused_when_it_is_read(folder: Path) -> None:
    header = json.dumps({"a": {"dtype": "I8", "shape": [8], "data_offsets": [0, 8]}}).encode()
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
    with pytest.raises(UnsupportedModel, match="I8"):
        Checkpoint(folder).stored("a")


def test_the_digest_changes_with_config_and_files(folder: Path) -> None:
    first = Checkpoint(folder).digest()
    assert first == Checkpoint(folder).digest()
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "rms_norm_eps": 1e-5}))
    assert first != Checkpoint(folder).digest()


@pytest.mark.parametrize("shard", ["x" * 300, "a\ud800", "a\0b", ".."])
def test_a_shard_of_an_impossible_name_is_missing(folder: Path, shard: str) -> None:
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": shard}}))
    assert "download the model again" in refusal(folder, WeightsMissing)


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F32", "shape": [1e999], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [float("nan")], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [-1, -1], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": ["1"], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [1], "data_offsets": [0, 1e999]},
        {"dtype": "F32", "shape": [1], "data_offsets": [0, 4, 8]},
        {"dtype": ["F32"], "shape": [1], "data_offsets": [0, 4]},
    ],
)
def test_a_size_that_is_none_is_refused(folder: Path, entry: dict[str, object]) -> None:
    header = json.dumps({"a": entry}).encode()
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"\0" * 64)
    assert "download it again" in refusal(folder, WeightsCorrupt)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors.index.json"])
def test_deeply_nested_files_are_refused(folder: Path, name: str) -> None:
    (folder / name).write_text("[" * 100_000 + "]" * 100_000)
    assert "download it again" in refusal(folder, CheckpointError)


@pytest.mark.skipif(os.name != "posix", reason="the system tells no time of the last change")
@pytest.mark.parametrize("way", ["in place", "by a rename"])
def test_one_other_number_under_the_same_header_size_and_time_is_another_model(
    way: str, llama_folder: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(llama_folder, folder)
    path = folder / "model.safetensors"
    before, digest = path.stat(), Checkpoint(folder).digest()
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 1  # between the places that are looked at
    target = path if way == "in place" else folder / "other"
    target.write_bytes(content)
    os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(target, path)
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert Checkpoint(folder).digest() != digest
