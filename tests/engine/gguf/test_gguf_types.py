"""Types of tensors in GGUF files: numbers and sizes as llama.cpp and ik_llama.cpp have them, refusals by name."""

from __future__ import annotations

import struct
from pathlib import Path

import gguf
import pytest
import torch

from engine.errors import UnsupportedModel, WeightsCorrupt
from engine.gguf.header import quantization, read_header
from engine.gguf.stored_tensor import PLAIN
from engine.gguf.types import FILE_TYPES, GgmlType
from engine.gguf.woven import PLAIN_OF
from engine.kernels import blocks
from engine.loaded_model import load_model
from engine.messages import LoadOptions
from engine.model.config import read_config
from engine.model.converted import streams_as_it_is
from engine.model.weight_format import stored_format
from engine.model_file import OpenedModel
from engine.quantizing.original import from_gguf
from engine.run import settle
from engine.weights.checkpoint import KERNEL_TYPES, Checkpoint
from tests.support.checkpoints import reference_model, train_tokenizer
from tests.support.gguf_files import write_gguf
from tests.support.packed_models import TOKENS, load, logits
from tests.support.streams import streamed_decoder

NAME = "blk.1.ffn_down.weight"
REFUSED = sorted(kind.name for kind in GgmlType if kind.refused)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a small model in Q8_0, in rows that every type fills."""
    path = tmp_path_factory.mktemp("gguf") / "model.gguf"
    model = reference_model("qwen2", hidden_size=256, intermediate_size=256, num_hidden_layers=2)
    write_gguf(model, path, gguf.GGMLQuantizationType.Q8_0, train_tokenizer())
    return path.read_bytes()


def retyped(whole: bytes, number: int, path: Path) -> Path:
    """The model with another number as the type of one tensor."""
    at = whole.index(struct.pack("<Q", len(NAME)) + NAME.encode()) + 8 + len(NAME) + 4 + 2 * 8
    assert whole[at : at + 4] == struct.pack("<I", GgmlType.Q8_0)
    path.write_bytes(whole[:at] + struct.pack("<I", number) + whole[at + 4 :])
    return path


def test_types_and_files_are_called_and_sized_as_the_package_does() -> None:
    sizes = {kind.name: (int(kind), *size) for kind, size in gguf.GGML_QUANT_SIZES.items()}
    sizes |= {"Q8_1": (9, 32, 36)}  # of activations; old packages say 40, its floats were once of 32 bits
    own = {kind.name: (int(kind), kind.elements, kind.block_bytes) for kind in GgmlType if not kind.row_extra_bytes}
    assert {name: own.get(name) for name in sizes} == sizes
    names = {kind.value: kind.name.removeprefix("MOSTLY_") for kind in gguf.LlamaFileType}
    plain = {0: "ALL_F32", 1: "F16", 32: "BF16", 1024: "GUESSED"}
    assert names.items() <= {**FILE_TYPES, **plain}.items()


def test_the_kernels_blocks_are_those_of_the_files() -> None:
    for name, number in blocks.NAMES.items():
        kind = GgmlType[name]
        assert (number, *blocks.block_of(number)) == (kind, kind.elements, kind.block_bytes)
        assert blocks.row_bytes(number, 512) == kind.row_bytes(512)


def test_a_type_is_computed_with_or_refused() -> None:
    assert {GgmlType[name] for name in REFUSED} == set(GgmlType) - KERNEL_TYPES - PLAIN.keys() - PLAIN_OF.keys()


@pytest.mark.parametrize("number", [4, 5, 37, 43, 132, 200, 4444, 2**32 - 1])
def test_a_number_that_nobody_knows_is_refused_with_the_tensor(number: int, whole: bytes, tmp_path: Path) -> None:
    path = retyped(whole, number, tmp_path / "odd.gguf")
    sentence = (
        f"The tensor {NAME} of odd.gguf is of the GGUF type {number}, which Tenon does not know; choose another "
        "quantization of this model."
    )
    with pytest.raises(UnsupportedModel) as refused:
        Checkpoint(path)
    assert str(refused.value) == sentence


@pytest.mark.parametrize("kind", REFUSED)
def test_a_known_type_that_is_not_computed_is_refused_by_name(kind: str, whole: bytes, tmp_path: Path) -> None:
    path = retyped(whole, GgmlType[kind], tmp_path / "model.gguf")
    sentence = rf"The tensor {NAME} is stored as {kind}, which Tenon cannot read; choose another quantization"
    with pytest.raises(UnsupportedModel, match=sentence):
        Checkpoint(path).stored("model.layers.1.mlp.down_proj.weight")
    with pytest.raises(UnsupportedModel, match=sentence):
        load_model(settle(LoadOptions(model=str(path))))


@pytest.mark.parametrize("kind", REFUSED)
def test_bytes_that_do_not_fill_its_blocks_are_refused_by_its_name_too(kind: str, whole: bytes, tmp_path: Path) -> None:
    """Nobody can use the tensor, so what to do comes before what else is wrong with it."""
    path = tmp_path / "model.gguf"
    path.write_bytes(whole)
    at, end = whole.index(NAME.encode()) + len(NAME) + 4, read_header(path).tensors[NAME].start + 100
    odd = retyped(whole, GgmlType[kind], path).read_bytes()
    for data in (odd[:at] + struct.pack("<Q", 250) + odd[at + 8 :], odd[:end]):
        path.write_bytes(data)
        with pytest.raises(UnsupportedModel, match=rf"{NAME} is stored as {kind}, which Tenon cannot read; choose"):
            Checkpoint(path).stored("model.layers.1.mlp.down_proj.weight")


def test_rows_with_a_scale_of_their_own_are_placed(whole: bytes, tmp_path: Path) -> None:
    """IQ4_KS has a float before the blocks of each row."""
    header = read_header(retyped(whole, GgmlType.IQ4_KS, tmp_path / "model.gguf"))
    assert header.tensors[NAME].size_bytes == 256 * (136 + 4)
    assert quantization([header]) == "Q8_0"


def test_a_row_that_fills_no_blocks_is_damage(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    at = whole.index(NAME.encode()) + len(NAME) + 4
    path.write_bytes(whole[:at] + struct.pack("<Q", 250) + whole[at + 8 :])
    with pytest.raises(WeightsCorrupt, match=rf"{NAME} cannot be Q8_0 of the shape"):
        read_header(path)


def test_woven_rows_are_computed_with_in_order(whole: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Q8_0_R8 has the numbers of Q8_0 in other places; eight rows belong together."""
    path, name = tmp_path / "model.gguf", "model.layers.1.mlp.down_proj.weight"
    path.write_bytes(whole)
    place, plain = read_header(path).tensors[NAME], Checkpoint(path).tensor(name)
    units = torch.frombuffer(bytearray(whole[place.start : place.stop]), dtype=torch.uint8).view(32, 8, 8, 34)
    units = units.transpose(1, 2)  # by eight rows, blocks, rows
    codes = units[..., 2:].unflatten(-1, (8, 4)).transpose(2, 3).flatten(2)
    woven = torch.cat((units[..., :2].flatten(2), codes), -1).numpy().tobytes()
    retyped(whole[: place.start] + woven + whole[place.stop :], GgmlType.Q8_0_R8, path)
    source = Checkpoint(path)
    assert source.stored(name).kind == GgmlType.Q8_0
    assert torch.equal(source.tensor(name), plain)
    load_model(settle(LoadOptions(model=str(path)))).release()
    expected = logits(load(path, "auto"), path)
    streamed = streamed_decoder(path, stored_format(read_config(source)), 0, 2)
    with monkeypatch.context() as patch:
        patch.setattr("engine.gguf.woven.unwoven", None)  # rows are put in order once, in a file, and not by forwards
        found = streamed.forward(TOKENS, torch.arange(len(TOKENS)), streamed.new_cache(64)).logits
    assert torch.equal(found, expected)
    assert not streams_as_it_is(read_config(source), stored_format(read_config(source)))
    streamed.source.release()
    original = from_gguf(OpenedModel("woven", path))
    (part,) = (one for one in original.tensors if one.name == NAME)
    assert torch.equal(torch.cat(list(part.rows(original.files, lambda: None))), plain)
    at = whole.index(NAME.encode()) + len(NAME) + 4 + 8
    path.write_bytes(whole[:at] + struct.pack("<QI", 252, GgmlType.Q8_0_R8) + whole[at + 12 :])
    with pytest.raises(WeightsCorrupt, match=rf"{NAME} cannot be Q8_0_R8 of the shape"):
        read_header(path)
