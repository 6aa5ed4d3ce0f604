"""Files of a GGUF model, and files that are damaged, cut short or hostile: one sentence each."""

from __future__ import annotations

import math
import os
import struct
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType as Kind
from gguf import GGUFWriter
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import (
    CheckpointError,
    ConfigInvalid,
    ModelNotFound,
    UnsupportedModel,
    WeightsCorrupt,
    WeightsMissing,
    WeightsUnreadable,
)
from engine.gguf.header import read_header
from engine.model.config import read_config
from engine.model.packed_loader import embedding_rows
from engine.model.tensors import check_tensors
from engine.weights.checkpoint import Checkpoint
from engine.weights.direct_reader import read_pieces
from engine.weights.watched_file import WatchedFile
from tests.support.checkpoints import reference_model, train_tokenizer
from tests.support.decoders import load_decoder
from tests.support.fast_cases import examples
from tests.support.gguf_files import finish, write_gguf


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a small model with a tokenizer."""
    path = tmp_path_factory.mktemp("gguf") / "model.gguf"
    write_gguf(reference_model("qwen2", num_hidden_layers=1), path, Kind.Q4_0, train_tokenizer())
    return path.read_bytes()


def test_a_model_in_parts_is_one_model(tmp_path: Path) -> None:
    model = reference_model("qwen3")
    write_gguf(model, tmp_path / "model.gguf", split_max_tensors=8)
    (tmp_path / "whole").mkdir()
    write_gguf(model, tmp_path / "whole" / "model.gguf")
    parts = sorted(tmp_path.glob("model-*.gguf"))
    assert len(parts) > 3
    prompt = torch.arange(20)

    def logits(path: Path) -> torch.Tensor:
        decoder = load_decoder(path)
        return decoder.forward(prompt, prompt, decoder.new_cache(20)).logits

    for path in (tmp_path, parts[0], parts[2]):
        assert torch.equal(logits(path), logits(tmp_path / "whole"))
    assert Checkpoint(parts[1]).packed_path("q8_0") == tmp_path / "model.tenon-q8_0.packed"
    parts[2].unlink()
    with pytest.raises(WeightsMissing, match=r"model-00003-of-0000\d\.gguf is not there \(1 of \d parts"):
        Checkpoint(tmp_path)


def test_a_folder_of_two_models_asks_which(tmp_path: Path, whole: bytes) -> None:
    for name in ("a-Q4_0.gguf", "mmproj-a.gguf"):
        (tmp_path / name).write_bytes(whole)
    assert Checkpoint(tmp_path).architecture == "Qwen2ForCausalLM"
    (tmp_path / "a-Q8_0.gguf").write_bytes(whole)
    with pytest.raises(ModelNotFound, match=r"2 GGUF models \(a-Q4_0\.gguf, a-Q8_0\.gguf\): give the file"):
        Checkpoint(tmp_path)
    assert Checkpoint(tmp_path / "a-Q8_0.gguf").quantization == "Q4_0"


def test_the_digest_tells_models_apart(tmp_path: Path) -> None:
    def digest(seed: int, name: str = "model.gguf") -> str:
        write_gguf(reference_model("qwen2", seed, num_hidden_layers=1), tmp_path / name)
        return Checkpoint(tmp_path / name).digest()

    first = digest(0)
    assert Checkpoint(tmp_path / "model.gguf").digest() == first
    assert first != digest(1)


def small(path: Path, architecture: str = "llama", **values: Any) -> Path:
    """A file with nothing but some metadata and an embedding."""
    writer = GGUFWriter(str(path), architecture)
    known: dict[str, Any] = {
        "block_count": 1,
        "context_length": 64,
        "embedding_length": 32,
        "feed_forward_length": 32,
        "attention.head_count": 2,
        "attention.layer_norm_rms_epsilon": 1e-5,
        **values,
    }
    for name, value in known.items():
        add = {
            int: writer.add_uint32,
            float: writer.add_float32,
            str: writer.add_string,
            list: writer.add_array,
        }
        if value is not None:
            add[type(value)](f"{architecture}.{name}", value)
    writer.add_tensor("token_embd.weight", np.zeros((4, 32), np.float32))
    finish(writer)
    return path


@pytest.mark.parametrize(
    ("architecture", "values", "error", "sentence"),
    [
        (
            "mamba",
            {},
            UnsupportedModel,
            "architecture mamba; choose another model. It runs deepseek2, gemma2, ",
        ),
        (
            "clip",
            {},
            UnsupportedModel,
            "reads images or sound, and no text model; choose the model's own file",
        ),
        ("dflash", {}, UnsupportedModel, "holds a draft for a model .DFlash or DSpark., and no model"),
        ("eagle3", {}, UnsupportedModel, "holds a draft for a model, in a form of llama.cpp's own"),
        ("llama", {"expert_count": 8}, UnsupportedModel, r"no expert_count \(8\)"),
        ("llama", {"block_count": None}, ConfigInvalid, "missing or of the wrong kind"),
        ("llama", {"embedding_length": "wide"}, ConfigInvalid, "missing or of the wrong kind"),
        ("llama", {"embedding_length": math.inf}, ConfigInvalid, "missing or of the wrong kind"),
        ("llama", {"attention.head_count": 0}, ConfigInvalid, "missing or of the wrong kind"),
        ("llama", {"attention.head_count_kv": [1, 2]}, UnsupportedModel, "layers are alike"),
        ("llama", {"attention.value_length": 8}, UnsupportedModel, "keys and values differ"),
        (
            "llama",
            {"rope.scaling.type": "longrope", "rope.scaling.factor": 2.0},
            UnsupportedModel,
            "no RoPE of the type longrope",
        ),
        ("llama", {"rope.scaling.attn_factor": 1.5}, UnsupportedModel, r"rope\.scaling\.attn_factor"),
        ("llama", {"rope.scale_linear": 4.0}, UnsupportedModel, r"no rope\.scale_linear \(4\.0\)"),
        ("llama", {"rope.dimension_count": 8}, UnsupportedModel, r"no partial_rotary_factor \(0\.5\)"),
        ("llama", {"block_count": 0}, ConfigInvalid, "missing or of the wrong kind"),
        ("llama", {"block_count": 4_000_000_000}, ConfigInvalid, "missing or of the wrong kind"),
        ("llama", {"attention.key_length": 4_000_000_000}, ConfigInvalid, "missing or of the wrong kind"),
    ],
)
def test_what_cannot_be_run_is_said_in_a_sentence(
    architecture: str, values: dict[str, Any], error: type[CheckpointError], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=sentence):
        read_config(Checkpoint(small(tmp_path / "model.gguf", architecture, **values)))


def test_tensors_that_are_missing_are_named(tmp_path: Path) -> None:
    checkpoint = Checkpoint(small(tmp_path / "model.gguf"))
    with pytest.raises(CheckpointError, match=r"do not match the GGUF file's metadata: 10 missing \(model"):
        check_tensors(checkpoint, read_config(checkpoint))


def head(
    pairs: bytes = b"", tensors: bytes = b"", pair_count: int = 0, tensor_count: int = 0, version: int = 3
) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, tensor_count, pair_count) + pairs + tensors


def key(name: bytes) -> bytes:
    return struct.pack("<Q", len(name)) + name


HUGE = 2**60
HOSTILE: dict[str, bytes] = {
    "empty": b"",
    "another format": b"PK\x03\x04" + bytes(100),
    "magic alone": b"GGUF",
    "many pairs": head(pair_count=HUGE) + bytes(100),
    "many tensors": head(tensor_count=HUGE) + bytes(100),
    "a long key": head(struct.pack("<Q", HUGE), pair_count=1) + bytes(100),
    "a long array of bytes": head(key(b"a") + struct.pack("<IIQ", 9, 0, HUGE), pair_count=1) + bytes(100),
    "a long array of strings": head(key(b"a") + struct.pack("<IIQ", 9, 8, HUGE), pair_count=1) + bytes(100),
    "an array of arrays": head(key(b"a") + struct.pack("<IIQ", 9, 9, 1), pair_count=1) + bytes(100),
    "an unknown type": head(key(b"a") + struct.pack("<I", 77), pair_count=1) + bytes(100),
    "a key twice": head(2 * (key(b"a") + struct.pack("<IB", 0, 1)), pair_count=2) + bytes(100),
    "no alignment": head(key(b"general.alignment") + struct.pack("<II", 4, 0), pair_count=1) + bytes(100),
    "many dimensions": head(tensors=key(b"t") + struct.pack("<I", 9), tensor_count=1) + bytes(100),
    "a large tensor": head(tensors=key(b"t") + struct.pack("<IQQIQ", 2, HUGE, HUGE, 0, 0), tensor_count=1) + bytes(100),
    "a far tensor": head(tensors=key(b"t") + struct.pack("<IQIQ", 1, 8, 0, HUGE), tensor_count=1) + bytes(100),
    "a broken block": head(tensors=key(b"t") + struct.pack("<IQIQ", 1, 33, 8, 0), tensor_count=1) + bytes(100),
    "a tensor twice": head(tensors=2 * (key(b"t") + struct.pack("<IQIQ", 1, 8, 0, 0)), tensor_count=2) + bytes(100),
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_heads_are_refused_at_once(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(HOSTILE[name])
    tracemalloc.start()
    with pytest.raises(WeightsCorrupt, match=r"^(The GGUF file )?model\.gguf is .*; download it again\.$") as told:
        read_header(path)
    assert "unpack" not in str(told.value)  # a word of Python's
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most_bytes < 1 << 20


@pytest.mark.parametrize("version", [1, 4, 0x03000000])
def test_other_versions_are_refused(version: int, tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(head(version=version))
    with pytest.raises(UnsupportedModel, match=f"version {version}, and Tenon reads versions 2 and 3"):
        read_header(tmp_path / "model.gguf")


def test_an_unknown_tensor_type_is_named(tmp_path: Path) -> None:
    tensor = key(b"t") + struct.pack("<IQIQ", 1, 8, 4444, 0)
    (tmp_path / "model.gguf").write_bytes(head(tensors=tensor, tensor_count=1) + bytes(100))
    with pytest.raises(UnsupportedModel, match="of the GGUF type 4444, which Tenon does not know"):
        read_header(tmp_path / "model.gguf")


def open_model(path: Path) -> None:
    """Everything up to the first tensor."""
    checkpoint = Checkpoint(path)
    check_tensors(checkpoint, read_config(checkpoint))


@settings(max_examples=examples(60))
@given(data=st.data())
def test_damaged_files_end_in_a_sentence(data: st.DataObject, whole: bytes, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.gguf"
    header_bytes = 24_000
    damaged = bytearray(whole[: data.draw(st.sampled_from([len(whole), header_bytes, 5000, 300]))])
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, min(len(damaged), header_bytes) - 8))
        damaged[at : at + 8] = data.draw(
            st.sampled_from([b"\xff" * 8, bytes(8), struct.pack("<Q", 2**40)]) | st.binary(min_size=8, max_size=8)
        )
    path.write_bytes(damaged)
    problem = None
    try:
        open_model(path)
    except CheckpointError as error:
        problem = error.message
    assert problem is None or (problem.endswith(".") and "\n" not in problem)


def test_a_file_that_is_changed_while_it_is_in_use_is_told(tmp_path: Path, whole: bytes) -> None:
    """Cut, written to or replaced: a sentence each time, for tensors and for rows of the embedding, and no crash."""
    path = tmp_path / "model.gguf"
    for change in ("cut", "touched", "replaced", "gone"):
        path.write_bytes(whole)
        checkpoint = Checkpoint(path)
        rows = embedding_rows(checkpoint, read_config(checkpoint))
        rows(torch.tensor([1, 2]))
        assert not checkpoint.changed
        if change == "cut":
            os.truncate(path, len(whole) // 2)
        elif change == "touched":
            os.utime(path, ns=(0, 0))
        elif change == "replaced":
            (tmp_path / "other").write_bytes(whole[:-1] + b"x")
            (tmp_path / "other").replace(path)
        else:
            path.unlink()
        assert checkpoint.changed
        if change in ("replaced", "gone"):
            # An opened file stays as it was until the model is loaded anew.
            rows(torch.tensor([1]))
            continue
        with pytest.raises(WeightsUnreadable, match=r"model\.gguf was changed while it was in use: ask again"):
            rows(torch.tensor([1]))
        with pytest.raises(WeightsUnreadable, match="was changed while it was in use"):
            checkpoint.tensor("model.layers.0.mlp.down_proj.weight")


def test_a_file_that_ends_in_a_tensor_is_told(tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(whole)
    stored = Checkpoint(path).stored("model.layers.0.mlp.down_proj.weight")
    path.write_bytes(whole[: stored.start + stored.size_bytes // 2])
    with pytest.raises(WeightsCorrupt, match=r"ended while blk\.0\.ffn_down\.weight was read"):
        list(read_pieces({path: WatchedFile(path)}, [stored], lambda: None))
    with pytest.raises(WeightsCorrupt, match=r"damaged or cut short \(.* ends at byte \d+ of \d+\)"):
        Checkpoint(path)
