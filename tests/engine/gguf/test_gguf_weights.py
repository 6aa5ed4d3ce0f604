"""Weights of GGUF files: each matrix in its own type, what they say, and what is said of them."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
import transformers
from gguf import GGMLQuantizationType as Kind

from engine.cli import main
from engine.kernels import blocks
from engine.loaded_model import load_model
from engine.messages import ChatMessage, LoadOptions
from engine.model.config import read_config
from engine.model.footprint import weight_bytes
from engine.model.linear import JoinedLinear, PackedLinear
from engine.model.token_tree import Draft
from engine.model.weight_format import stored_format
from engine.modes import in_mode
from engine.run import settle
from engine.weights.checkpoint import Checkpoint
from tests.support.checkpoints import reference_model
from tests.support.fast_cases import chosen
from tests.support.gguf_files import write_gguf
from tests.support.matrices import raw_matrix
from tests.support.packed_models import assert_only_rounded, kinds_of, load, logits
from tests.support.toy import TEXTS, TOY


@pytest.fixture(scope="module")
def toy() -> tuple[Any, Any]:
    folder = TOY
    transformers.utils.logging.disable_progress_bar()
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    return model, transformers.AutoTokenizer.from_pretrained(folder)


def loss(path: Path, weights: str) -> float:
    """Mean negative log-probability of the tokens of some chats that the toy was not trained on."""
    model = load_model(settle(LoadOptions(model=str(path), weights=weights, threads=1)))
    losses, sequence = [], model.sequences.open()
    for request, reply in json.loads(TEXTS.read_text(encoding="utf-8")):
        prompt = model.tokenizer.render([ChatMessage("user", request)])
        ids = [*prompt, *model.tokenizer.encode(reply)]
        sequence.reuse(ids[:1])
        sequence.token_ids.clear()
        logits = sequence.verify(ids[0], Draft.chain(ids[1:]), lambda: None)[:-1]
        chances = logits.log_softmax(-1).gather(1, torch.tensor(ids[1:])[:, None])[:, 0]
        losses.append(-chances[len(prompt) - 1 :])
    return float(torch.cat(losses).double().mean())


@pytest.mark.parametrize(
    "kind", chosen([Kind.Q8_0, Kind.Q4_0, Kind.Q4_K, Kind.Q5_0, Kind.F16, Kind.BF16], (Kind.Q8_0, Kind.Q4_K))
)
def test_a_toy_as_its_file_has_it_says_what_its_floats_say(kind: Kind, toy: tuple[Any, Any], tmp_path: Path) -> None:
    """The rounding of activations is the only difference; nothing is written beside the file."""
    path = tmp_path / f"toy-{kind.name}.gguf"
    write_gguf(toy[0], path, kind, toy[1], pre="smollm")
    exact, kept = loss(path, "fp32"), loss(path, "auto")
    assert abs(np.expm1(kept - exact)) < 0.005
    assert list(tmp_path.iterdir()) == [path]


def mixed(path: Path, kinds: dict[str, Kind], model: Any) -> None:
    """A llama whose matrices are in these types by a part of their names, the others in Q8_0."""
    write_gguf(model, path, lambda name: next((kind for part, kind in kinds.items() if part in name), Kind.Q8_0))


def test_every_matrix_is_in_the_type_of_its_file(tmp_path: Path) -> None:
    """Queries, keys and values in types of their own are computed apart, and not converted."""
    kinds = {"attn_q": Kind.Q4_0, "attn_v": Kind.Q5_1, "ffn_up": Kind.F16, "token_embd": Kind.Q5_0}
    model = reference_model("llama", tie_word_embeddings=True)
    mixed(tmp_path / "model.gguf", kinds, model)
    loaded = load(tmp_path / "model.gguf", "auto")
    layer = loaded.layers[1]
    assert kinds_of(layer.qkv) == ["Q4_0", "Q8_0", "Q5_1"]
    assert kinds_of(layer.gate_up) == ["Q8_0", "F16"]
    assert kinds_of(loaded.head) == ["Q5_0"]
    assert loaded.notes == ()
    config = read_config(Checkpoint(tmp_path / "model.gguf"))
    assert loaded.size_bytes == weight_bytes(config, stored_format(config))
    path = tmp_path / "model.gguf"
    assert_only_rounded(logits(loaded, path), loaded, lambda weights: logits(weights, path))
    # The matrices are those that were written, rows of interleaved heads in transformers' order.
    assert isinstance(layer.qkv, JoinedLinear)
    queries = layer.qkv.parts[0]
    assert isinstance(queries, PackedLinear)
    written = Checkpoint(tmp_path / "model.gguf").tensor("model.layers.1.self_attn.q_proj.weight")
    assert torch.equal(blocks.unpack(queries.matrix), written)


@pytest.mark.parametrize("kind", [Kind.IQ2_XXS, Kind.IQ3_S, Kind.IQ1_M], ids=lambda kind: kind.name)
def test_points_of_codebooks_stay_as_they_are(kind: Kind, tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    model = reference_model("qwen2", hidden_size=256, intermediate_size=512, num_hidden_layers=2)

    def blocks_of(values: np.ndarray) -> np.ndarray:
        return raw_matrix(kind.name, len(values), values.shape[1]).numpy()

    write_gguf(model, path, lambda name: kind if "ffn" in name else Kind.Q8_0, blocks_of=blocks_of)
    loaded = load(path, "auto")
    down = loaded.layers[1].down
    assert isinstance(down, PackedLinear)
    assert kinds_of(down) == [kind.name]
    assert loaded.notes == ()
    assert down.matrix.size_bytes == 256 * blocks.row_bytes(kind, 512)
    assert torch.equal(blocks.unpack(down.matrix), Checkpoint(path).tensor("model.layers.1.mlp.down_proj.weight"))


def test_a_file_is_called_what_it_calls_itself(tmp_path: Path) -> None:
    for file_type, kind, name in (
        (gguf.LlamaFileType.MOSTLY_Q4_K_M, Kind.Q8_0, "Q4_K_M"),
        (None, Kind.Q4_0, "Q4_0"),
        (gguf.LlamaFileType.ALL_F32, Kind.Q5_0, "Q5_0"),
        (gguf.LlamaFileType.MOSTLY_F16, Kind.F16, None),
        (9999, Kind.Q5_1, "Q5_1"),
    ):
        path = tmp_path / "model.gguf"
        write_gguf(reference_model("qwen2", num_hidden_layers=1), path, kind, file_type=file_type)
        assert Checkpoint(path).quantization == name
        config = read_config(Checkpoint(path))
        assert stored_format(config).name == (name or "fp16")


def test_other_formats_are_made_in_memory(tmp_path: Path, toy: tuple[Any, Any]) -> None:
    path = tmp_path / "toy.gguf"
    write_gguf(toy[0], path, Kind.Q8_0, toy[1], pre="smollm")
    for weights in ("bf16", "q8_0", "q4_k_m"):
        model = load_model(settle(LoadOptions(model=str(path), weights=weights)))
        assert model.report.weights == weights
        model.release()
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_replaced_gives_its_own_text(tmp_path: Path, toy: tuple[Any, Any]) -> None:
    """Safetensors of one shape have one header: the old weights went on answering, from memory and from the disk."""
    folder = Path(shutil.copytree(TOY, tmp_path / "toy"))
    before = Checkpoint(folder).digest()
    options = in_mode("plain", LoadOptions(model=str(folder), weights="q8_0"))
    model = load_model(settle(options))
    assert model.serves(options)
    weights = folder / "model.safetensors"
    stat = weights.stat()
    data = bytearray(weights.read_bytes())
    data[len(data) // 2 :] = data[len(data) // 2 :][::-1]
    weights.write_bytes(data)
    os.utime(weights, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert Checkpoint(folder).digest() != before
    os.utime(weights)
    assert not model.serves(options)
    model.release()


def test_a_quantized_draft_and_a_renamed_file_work(tmp_path: Path, toy: tuple[Any, Any]) -> None:
    """A GGUF file drafts for the same model in another format, and its name is the model's."""
    write_gguf(toy[0], tmp_path / "small.gguf", Kind.Q8_0, toy[1], pre="smollm")
    shutil.copy(tmp_path / "small.gguf", tmp_path / "other.gguf")
    options = in_mode(
        "dovetail", LoadOptions(model=str(tmp_path / "small.gguf"), drafts=(str(tmp_path / "other.gguf"),))
    )
    model = load_model(settle(options))
    assert model.report.name == "small"
    assert model.drafts


def test_a_file_answers_on_the_command_line(
    tmp_path: Path, toy: tuple[Any, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """The same words as from the checkpoint that it was made of; a folder with the file does as well."""
    write_gguf(toy[0], tmp_path / "copy.gguf", Kind.F32, toy[1], pre="smollm")
    said = []
    for reference in (str(TOY), str(tmp_path / "copy.gguf"), str(tmp_path)):
        assert main(["ask", "--json", "--model", reference, "What does tok/s mean?"]) == 0
        said.append(json.loads(capsys.readouterr().out)["text"])
    assert said[0] == said[1] == said[2]
    (tmp_path / "copy.gguf").write_bytes(b"GGUF" + bytes(20))
    assert main(["ask", "--model", str(tmp_path), "Hi"]) == 2
    assert "copy.gguf is a GGUF file of version 0" in capsys.readouterr().err
