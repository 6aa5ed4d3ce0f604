"""Quantized GGUF files in Tenon's packed formats: what is kept exactly, what it costs, and the file beside them."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from gguf import GGMLQuantizationType as Kind

from engine.cli import main
from engine.hub.installed import assets_folder
from engine.kernels import int4
from engine.loaded_model import LoadedModel
from engine.messages import ChatMessage, LoadOptions
from engine.model.config import read_config
from engine.model.footprint import weight_bytes
from engine.model.packed_loader import load_packed
from engine.model.token_tree import Draft
from engine.model.weight_format import weight_format
from engine.training.guide import playground
from engine.weights.checkpoint import Checkpoint
from tests.support.checkpoints import reference_model
from tests.support.gguf_files import dequantized, quantized, write_gguf


def test_int4_keeps_the_integers_of_q4_0() -> None:
    """Only the scale is rounded, from float16 to bfloat16."""
    values = np.random.default_rng(0).normal(size=(64, 256)).astype(np.float32)
    values[3] = 0
    blocks = quantized(values, Kind.Q4_0).reshape(64, 8, 18)
    nibbles = blocks[..., 2:]
    integers = np.concatenate([nibbles & 15, nibbles >> 4], -1).astype(np.int8) - 8
    scales = blocks[..., :2].copy().view(np.float16)[..., 0].astype(np.float32)
    packed = int4.pack(torch.from_numpy(dequantized(values, Kind.Q4_0)))
    found, found_scales = int4._integers(packed)
    lived = torch.from_numpy(scales) != 0
    assert torch.equal(found[lived], torch.from_numpy(integers)[lived])
    assert torch.equal(found_scales, torch.from_numpy(scales).bfloat16().float())


def test_a_group_whose_ends_are_both_largest_is_searched() -> None:
    values = torch.tensor([1.0, -1.0, 0.5, 0.0] * 16).repeat(32, 1)
    assert (int4.unpack(int4.pack(values)) - values).abs().max() < 0.1


@pytest.fixture(scope="module")
def guide() -> tuple[Any, Any]:
    folder = assets_folder() / "models" / "guide"
    transformers.utils.logging.disable_progress_bar()
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    return model, transformers.AutoTokenizer.from_pretrained(folder)


def loss(path: Path, weights: str) -> float:
    """Mean negative log-probability of the tokens of some chats that the guide was not trained on."""
    model = LoadedModel(
        LoadOptions(model=str(path), weights=weights, threads=1), lambda done, total: None, lambda: None
    )
    rng = random.Random(20_261_121)
    losses = []
    for _ in range(12):
        exchange = playground.write(rng)
        prompt = model.tokenizer.render([ChatMessage("user", exchange.request)])
        ids = [*prompt, *model.tokenizer.encode(exchange.reply)]
        model.target.reuse(ids[:1])
        model.target.token_ids.clear()
        logits = model.target.verify(ids[0], Draft.chain(ids[1:]), lambda: None)[:-1]
        chances = logits.log_softmax(-1).gather(1, torch.tensor(ids[1:])[:, None])[:, 0]
        losses.append(-chances[len(prompt) - 1 :])
    return float(torch.cat(losses).double().mean())


@pytest.mark.parametrize(
    ("kind", "weights"),
    [(Kind.Q8_0, "int8"), (Kind.Q4_0, "int4"), (Kind.Q4_K, "int8"), (Kind.Q5_0, "int8")],
    ids=["Q8_0", "Q4_0", "Q4_K", "Q5_0"],
)
def test_packing_a_quantized_guide_costs_less_than_a_percent(
    kind: Kind, weights: str, guide: tuple[Any, Any], tmp_path: Path
) -> None:
    path = tmp_path / f"guide-{kind.name}.gguf"
    write_gguf(guide[0], path, kind, guide[1], pre="smollm")
    exact, packed = loss(path, "fp32"), loss(path, weights)
    assert abs(np.expm1(packed - exact)) < 0.01
    assert (tmp_path / f"guide-{kind.name}.tenon-{weights}.packed").is_file()


def test_a_packed_file_is_made_once_and_mapped_after_that(tmp_path: Path) -> None:
    model = reference_model("gemma2", hidden_size=256, intermediate_size=256)
    for kind in (Kind.Q4_0, Kind.Q8_0):
        write_gguf(model, tmp_path / f"model-{kind.name}.gguf", kind)
    checkpoint = Checkpoint(tmp_path / "model-Q4_0.gguf")
    config, int4_format = read_config(checkpoint), weight_format("int4")
    read: list[int] = []

    def load(checkpoint: Checkpoint) -> Any:
        read.clear()
        progress = lambda done, total: read.append(total)  # noqa: E731
        return load_packed(checkpoint, config, int4_format, tmp_path / "cache", progress)

    first = load(checkpoint)
    stored = sum(checkpoint.stored_bytes(name) for name in checkpoint.names)
    assert set(read) == {stored}
    again = load(Checkpoint(tmp_path / "model-Q4_0.gguf"))
    assert stored not in read
    assert sum(map(bool, read)) > 0
    assert torch.equal(first.embedding, again.embedding)
    # Another model in the same folder has a packed file of its own.
    load(Checkpoint(tmp_path / "model-Q8_0.gguf"))
    packed = sorted(path.name for path in tmp_path.glob("*.packed"))
    assert packed == ["model-Q4_0.tenon-int4.packed", "model-Q8_0.tenon-int4.packed"]
    size = (tmp_path / packed[0]).stat().st_size
    needed = weight_bytes(config, int4_format)
    assert needed < size < needed + 200_000


def test_a_file_in_a_folder_that_cannot_be_written_to_is_packed_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_gguf(reference_model("llama"), tmp_path / "model.gguf", Kind.Q8_0)
    checkpoint = Checkpoint(tmp_path / "model.gguf")
    monkeypatch.setattr(
        Checkpoint, "packed_path", lambda self, weights: tmp_path / "model.gguf" / "no-folder.packed"
    )
    load_packed(checkpoint, read_config(checkpoint), weight_format("int8"), tmp_path / "cache")
    assert len(list((tmp_path / "cache").glob("*-int8.packed"))) == 1


def test_a_quantized_draft_and_a_renamed_file_work(tmp_path: Path, guide: tuple[Any, Any]) -> None:
    """A GGUF file drafts for the same model in another format, and its name is the model's."""
    write_gguf(guide[0], tmp_path / "small.gguf", Kind.Q8_0, guide[1], pre="smollm")
    shutil.copy(tmp_path / "small.gguf", tmp_path / "other.gguf")
    options = LoadOptions(
        model=str(tmp_path / "small.gguf"), draft=str(tmp_path / "other.gguf"), mode="dovetail"
    )
    model = LoadedModel(options, lambda done, total: None, lambda: None)
    assert model.report.name == "small"
    assert model.draft is not None


def test_a_file_answers_on_the_command_line(
    tmp_path: Path, guide: tuple[Any, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """The same words as from the checkpoint that it was made of; a folder with the file does as well."""
    write_gguf(guide[0], tmp_path / "copy.gguf", Kind.F32, guide[1], pre="smollm")
    said = []
    for reference in ("guide", str(tmp_path / "copy.gguf"), str(tmp_path)):
        assert main(["ask", "--json", "--model", reference, "What does tok/s mean?"]) == 0
        said.append(json.loads(capsys.readouterr().out)["text"])
    assert said[0] == said[1] == said[2]
    (tmp_path / "copy.gguf").write_bytes(b"GGUF" + bytes(20))
    assert main(["ask", "--model", str(tmp_path), "Hi"]) == 2
    assert "copy.gguf is a GGUF file of version 0" in capsys.readouterr().err
