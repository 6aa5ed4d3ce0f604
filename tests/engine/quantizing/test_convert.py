"""Copies from request to record: types, resumption, full disks, bad input."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.cli import main
from engine.errors import Cancelled, InvalidOption, OutOfDisk, TenonError, UnsupportedModel
from engine.gguf.header import read_header
from engine.gguf.mixtures import MIXTURES, Facts, types_of
from engine.hub.installed import installed_model
from engine.hub.model_folders import INCOMING, models_folder
from engine.kernels import blocks
from engine.model import decoder
from engine.model_file import OpenedModel
from engine.quantizing import convert as making
from engine.quantizing import copy_file
from engine.quantizing.convert import CopyRequest, convert, discard
from engine.quantizing.original import from_gguf
from engine.quantizing.reading import Text, read_texts
from tests.support.checkpoints import write_checkpoint
from tests.support.gguf_files import edit_gguf

SIZES: dict[str, Any] = {"hidden_size": 256, "intermediate_size": 512, "head_dim": 64}
TEXT = "A language model guesses the next token of a text. " * 60


def quiet(step: str, done: int, total: int) -> None:
    """Take no notice."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a checkpoint in bfloat16 whose rows fill whole blocks."""
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    return write_checkpoint(tmp_path / "small", "llama", dtype=torch.bfloat16, **SIZES)


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep models and caches apart."""
    monkeypatch.setenv("TENON_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("TENON_CACHE_DIR", str(tmp_path / "cache"))


def request(folder: Path, to: str = "q4_k_m", **others: Any) -> CopyRequest:
    """Return a request that is calibrated with a text, which takes less time than replies."""
    return CopyRequest(str(folder), to, calibrate=folder.parent / "text.txt", **others)


def test_a_copy_is_installed_with_its_loss(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = str(folder.parent / "text.txt")
    assert main(["models", "convert", str(folder), "--to", "Q4_K_M", "--calibrate", text]) == 0
    said = capsys.readouterr().out
    assert "small-Q4_K_M is installed" in said
    assert "tokens of text.txt" in said
    model = installed_model("small-Q4_K_M")
    record = model.record
    assert record.loss.original == "small"
    assert 0 < record.loss.kl < 0.5
    assert record.loss.tokens > 50
    assert record.quantization == "Q4_K_M"
    assert record.hashed
    assert OpenedModel(model.name, model.location).config.quantization == "Q4_K_M"
    assert not any((models_folder() / INCOMING).glob("copy-*/"))
    assert main(["models", "list"]) == 0
    assert "KL " in capsys.readouterr().out


def test_without_a_text_the_model_s_own_replies_count(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "_REPLIES", 3)
    monkeypatch.setattr(making, "_REPLY_TOKENS", 8)
    monkeypatch.setattr(making, "_COMPARED", 8)
    copied = convert(CopyRequest(str(folder), "iq4_xs", out=folder.parent / "own.gguf"), quiet)
    assert copied.path.is_file()
    assert copied.loss.text == ""
    assert copied.loss.tokens >= 8


def test_an_interrupted_copy_goes_on_and_is_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copy_file, "_NOTED_BYTES", 1)
    whole = convert(request(folder, out=folder.parent / "whole.gguf"), quiet).path.read_bytes()
    for stop_at in (30_000, 500_000):
        out = folder.parent / f"cut-{stop_at}.gguf"
        steps: list[str] = []

        def stop(step: str, done: int, total: int, stop_at: int = stop_at) -> None:
            if step == "writing" and done > stop_at:
                raise Cancelled("It was stopped.")

        with pytest.raises(Cancelled):
            convert(request(folder, name="whole", out=out), stop)
        assert not out.exists()
        convert(request(folder, name="whole", out=out), lambda step, done, total: steps.append(step))  # noqa: B023
        assert "reading" not in steps
        assert out.read_bytes() == whole
        assert sorted(path.name for path in folder.parent.glob(".*")) == []


@pytest.mark.parametrize("change", ["text", "name"])
def test_a_copy_that_goes_on_takes_what_is_asked_now(folder: Path, change: str) -> None:
    def stop(step: str, done: int, total: int) -> None:
        if step == "writing":
            raise Cancelled("It was stopped.")

    out, steps = folder.parent / "form.gguf", list[str]()
    with pytest.raises(Cancelled):
        convert(request(folder, out=out), stop)
    if change == "text":
        (folder.parent / "text.txt").write_text("Another text decides what counts. " * 60, encoding="utf-8")
    name = "a/name.of/folders" if change == "name" else None  # a file has no other name than its own
    copied = convert(request(folder, out=out, name=name), lambda step, done, total: steps.append(step))
    assert ("reading" in steps) == (change == "text")
    assert (copied.path, copied.name) == (out, "form")


def test_a_copy_that_is_given_up_leaves_nothing(folder: Path) -> None:
    def stop(step: str, done: int, total: int) -> None:
        if step == "writing":
            raise Cancelled("It was stopped.")

    with pytest.raises(Cancelled):
        convert(request(folder), stop)
    assert any((models_folder() / INCOMING).glob("copy-*/"))
    discard(request(folder))
    assert not any((models_folder() / INCOMING).glob("copy-*/"))


def test_a_disk_that_is_too_small_is_told_before(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copy_file, "free_bytes", lambda place: 1000)
    with pytest.raises(OutOfDisk, match=r"The copy needs .* but the disk of .* has 1 kB"):
        convert(request(folder), quiet)
    assert not any((models_folder() / INCOMING).glob("copy-*/"))


def test_a_disk_that_fills_is_left_as_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: Any, **named: Any) -> torch.Tensor:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(copy_file, "_quantized", full)
    with pytest.raises(OutOfDisk, match="The copy needs"):
        convert(request(folder), quiet)
    assert not any((models_folder() / INCOMING).glob("copy-*/"))


def quantized(folder: Path) -> Path:
    """Return a copy in Q4_K_M."""
    return convert(request(folder, out=folder.parent / "q.gguf"), quiet).path


def bad(folder: Path, kind: str) -> CopyRequest:
    """Return a request that is to be refused."""
    if kind == "quantized":
        return request(quantized(folder), "q3_k_m")
    if kind == "more bits":
        return request(folder, "f32")
    if kind == "more bits than a quantized one":
        return request(quantized(folder), "q8_0")
    if kind == "exists":
        (folder.parent / "there.gguf").write_text("mine", encoding="utf-8")
        return request(folder, out=folder.parent / "there.gguf")
    if kind == "installed":
        (models_folder() / "small-Q4_K_M").mkdir(parents=True)
    if kind == "name":
        return request(folder, name="../out")
    if kind == "short":
        (folder.parent / "text.txt").write_text("Hello", encoding="utf-8")
    if kind == "no text":
        (folder.parent / "text.txt").write_bytes(b"\xff\xfe\x00binary")
    if kind == "no such text":
        (folder.parent / "text.txt").unlink()
    if kind == "no gguf":
        return request(folder, out=folder.parent / "model.bin")
    return request(folder, "q9_x" if kind == "type" else "q4_k_m")


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("quantized", "q is quantized already .Q4_K_M., and a copy of a copy loses twice"),
        ("more bits", "small has 16 bits for each weight, and f32 has 32"),
        ("more bits than a quantized one", "q is quantized already .Q4_K_M., and a copy of a copy loses twice"),
        ("exists", "There is a file .*there.gguf already"),
        ("installed", "There is an installed model 'small-Q4_K_M' already"),
        ("name", "cannot be called"),
        ("type", "There is no type 'q9_x': choose one of f32, f16"),
        ("short", "has . tokens, and at least 64 are needed"),
        ("no text", "cannot be read as text"),
        ("no such text", "cannot be read as text"),
        ("no gguf", "ends in .gguf"),
    ],
)
def test_bad_input_is_one_sentence(kind: str, sentence: str, folder: Path) -> None:
    asked = bad(folder, kind)
    with pytest.raises((InvalidOption, UnsupportedModel), match=sentence) as refused:
        convert(asked, quiet)
    assert "\n" not in refused.value.message
    there = folder.parent / "there.gguf"
    assert not there.exists() or there.read_text(encoding="utf-8") == "mine"


def test_what_counts_does_not_depend_on_how_fast_it_was_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine writes the same copy."""
    opened, text, found = OpenedModel("small", folder), Text(tuple(range(3, 203)), (True,) * 200), []
    for step_s in (0, 60):
        clock = partial(next, count(0, step_s))
        monkeypatch.setattr(decoder, "time", SimpleNamespace(perf_counter=clock))
        read = read_texts(opened.checkpoint, opened.config, [text], lambda *step: None, lambda: None, watched=True)
        found.append(read[1])
    assert found[0]
    assert all(torch.equal(one, found[1][name]) for name, one in found[0].items())


def test_a_weight_that_is_none_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = folder.parent / "f32.gguf"
    write_checkpoint(folder.parent / "wide", "llama", **SIZES)
    wide = convert(request(folder.parent / "wide", "f32", out=out), quiet).path
    info = read_header(wide).tensors["blk.1.ffn_up.weight"]
    raw = bytearray(wide.read_bytes())
    raw[info.start + 4 : info.start + 8] = torch.tensor([1e30]).numpy().tobytes()
    wide.write_bytes(raw)
    monkeypatch.setattr(making, "read_texts", lambda *asked, **named: ([], {}))
    monkeypatch.setattr(making, "_windows", lambda *asked: ([], []))
    with pytest.raises(UnsupportedModel, match=r"blk.1.ffn_up.weight cannot be written as Q4_K"):
        convert(request(wide), quiet)


def test_metadata_and_tokens_of_a_gguf_file_stay(folder: Path) -> None:
    source = convert(request(folder, "bf16", out=folder.parent / "bf16.gguf"), quiet).path
    told = {**read_header(source).metadata, "general.url": "https://example.org", "tokenizer.ggml.add_bos_token": False}
    source = edit_gguf(source, folder.parent / "told.gguf", told)
    before = read_header(source).metadata
    after = read_header(convert(request(source, "q8_0", out=folder.parent / "q8.gguf"), quiet).path).metadata
    own = ("general.file_type", "general.quantization_version")
    assert {key: value for key, value in after.items() if key not in own} == {
        key: value for key, value in before.items() if key not in own
    }
    assert after["general.file_type"] == MIXTURES["q8_0"][0]


def test_columns_that_count_more_lose_less(folder: Path) -> None:
    x = torch.randn(64, 512, generator=torch.Generator().manual_seed(3))
    importance = torch.rand(512, generator=torch.Generator().manual_seed(4)) ** 4 + 1e-3
    for name in ("Q4_0", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS"):
        kind = blocks.NAMES[name]

        def lost(weights: torch.Tensor | None, kind: int = kind) -> float:
            back = blocks.dequantize(kind, blocks.quantize(kind, x, importance=weights), 512)
            return float(((back - x).square() * importance).sum())

        assert lost(importance) < 0.97 * lost(None), name


NAMES = [f"blk.{layer}.{part}.weight" for layer in range(4) for part in ("attn_v", "attn_qkv", "ffn_down", "ffn_up")]


@given(
    st.sampled_from(sorted(MIXTURES)),
    st.dictionaries(
        st.sampled_from([*NAMES, "output.weight", "token_embd.weight", "blk.1.ffn_down_exps.weight", "x", ""]),
        st.lists(st.integers(1, 3000), min_size=1, max_size=4).map(tuple),
    ),
    st.builds(Facts, st.text(max_size=9), st.integers(0, 200), st.integers(0, 300), st.integers(0, 64)),
    st.booleans(),
)
def test_every_chosen_type_fits_its_rows(
    to: str, tensors: dict[str, tuple[int, ...]], facts: Facts, weighed: bool
) -> None:
    for name, kind in types_of(to, tensors, facts, weighed).items():
        assert len(tensors[name]) > 1
        assert kind == "F32" or blocks.row_bytes(blocks.NAMES[kind], tensors[name][-1]) > 0


@given(cut=st.integers(0, 4000), to=st.sampled_from(("q4_k_m", "q8_0", "f16")))
def test_a_cut_or_wild_file_is_refused_in_words(
    cut: int, to: str, tmp_path_factory: pytest.TempPathFactory, wild: Callable[[int], bytes]
) -> None:
    path = tmp_path_factory.mktemp("wild") / "wild.gguf"
    path.write_bytes(wild(cut))
    with pytest.raises(TenonError):
        convert(replace(CopyRequest(str(path), to), out=path.with_name("out.gguf")), quiet)
    assert not path.with_name("out.gguf").exists()


@pytest.fixture(scope="module")
def wild(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], bytes]:
    """Return what makes a file whose head is cut after so many bytes."""
    place = tmp_path_factory.mktemp("whole")
    source = write_checkpoint(place / "small", "llama", dtype=torch.bfloat16)
    from tests.engine.quantizing.test_copies_of_folders import copied

    copied(source, place / "small.gguf", "bf16")
    whole = (place / "small.gguf").read_bytes()
    return lambda cut: whole[:cut]


def test_types_are_those_of_the_plan(folder: Path) -> None:
    opened = OpenedModel(str(folder), folder)
    path = quantized(folder)
    copy = OpenedModel(str(path), path)
    original = from_gguf(copy)
    kinds = {tensor.name: tensor.kind for tensor in original.tensors}
    assert kinds["blk.0.attn_q.weight"] == blocks.NAMES["Q4_K"]
    assert kinds["blk.0.attn_norm.weight"] == 0
    assert copy.tokenizer.encode(TEXT) == opened.tokenizer.encode(TEXT)
    assert json.dumps(copy.templates).count("im_start") > 0
