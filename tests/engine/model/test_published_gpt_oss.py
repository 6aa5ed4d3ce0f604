"""gpt-oss as it is published: experts in MXFP4, whose blocks and scales are tensors of their own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from gguf import GGMLQuantizationType as Kind
from safetensors.torch import load_file, save_file
from torch import Tensor

from engine.errors import TenonError, TensorMismatch, WeightsCorrupt
from engine.kernels import blocks
from engine.model.config import read_config
from engine.model.footprint import weight_bytes
from engine.model.weight_format import stored_format, weight_format
from engine.weights.checkpoint import Checkpoint, CheckpointOutline
from tests.support.checkpoints import write_published_gpt_oss
from tests.support.decoders import greedy, load_decoder, reference_greedy
from tests.support.gguf_files import write_gguf
from tests.support.packed_models import assert_only_rounded, kinds_of, load, logits
from tests.support.streams import resident_decoder, streamed_decoder

PROMPT = torch.randint(3, 300, (60,), generator=torch.Generator().manual_seed(7))
Tensors = dict[str, Tensor]
EXPERTS = "model.layers.1.mlp.experts."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_published_gpt_oss(tmp_path / "model")
    return tmp_path / "model"


def rewritten(folder: Path, change: Callable[[Tensors], object]) -> Path:
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")
    return folder


@torch.no_grad()
def test_logits_and_greedy_text_are_those_of_transformers(tmp_path: Path) -> None:
    model = write_published_gpt_oss(tmp_path)
    decoder = load_decoder(tmp_path)
    ours = decoder.forward(PROMPT, torch.arange(60), decoder.new_cache(60)).logits
    torch.testing.assert_close(ours, model(PROMPT[None]).logits[0], atol=1e-4, rtol=1e-4)
    model.generation_config.eos_token_id = None
    assert greedy(decoder, PROMPT, 64) == reference_greedy(model, PROMPT.tolist(), 64)


def test_experts_stay_in_their_blocks(folder: Path) -> None:
    write_published_gpt_oss(folder, num_experts_per_tok=8)  # all: nearly equal ones change places by rounding
    checkpoint = Checkpoint(folder)
    config = read_config(checkpoint)
    assert stored_format(config).name == checkpoint.quantization == "MXFP4"
    loaded = load(folder, "auto")
    experts = loaded.layers[0].experts
    assert kinds_of(experts.gate_up[0]) == kinds_of(experts.down[3]) == ["MXFP4"]
    assert kinds_of(loaded.layers[0].output) == ["BF16"]
    assert loaded.notes == ()
    size = weight_bytes(config, stored_format(config))
    assert loaded.size_bytes == size == weight_bytes(read_config(CheckpointOutline(folder)), stored_format(config))
    assert_only_rounded(logits(loaded, folder), loaded, lambda weights: logits(weights, folder))


def test_an_outline_counts_the_bytes_of_the_published_format(folder: Path) -> None:
    outline = read_config(CheckpointOutline(folder))
    assert not outline.types
    assert weight_bytes(outline, stored_format(outline)) == load(folder, "auto").size_bytes


def test_blocks_and_scales_may_lie_in_two_files(folder: Path) -> None:
    expected = logits(load(folder, "auto"), folder)
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    parts = {
        "model-1-of-2.safetensors": {name: one for name, one in tensors.items() if not name.endswith("_scales")},
        "model-2-of-2.safetensors": {name: one for name, one in tensors.items() if name.endswith("_scales")},
    }
    for name, part in parts.items():
        save_file(part, folder / name)
    index = {tensor: name for name, part in parts.items() for tensor in part}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
    assert torch.equal(logits(load(folder, "auto"), folder), expected)
    decoder = streamed_decoder(folder, stored_format(read_config(Checkpoint(folder))), 0, 2)
    found = decoder.forward(torch.arange(3, 43), torch.arange(40), decoder.new_cache(64)).logits
    decoder.source.release()  # type: ignore[attr-defined]
    assert torch.equal(found, expected)


@pytest.mark.parametrize("name", ["auto", "q8_0", "fp32"])
def test_streamed_is_resident_bit_for_bit(name: str, folder: Path) -> None:
    format_ = stored_format(read_config(Checkpoint(folder))) if name == "auto" else weight_format(name)
    before = sorted(folder.iterdir())
    found = []
    for decoder in (resident_decoder(folder, format_), streamed_decoder(folder, format_, 1, 2)):
        found.append(decoder.forward(PROMPT, torch.arange(60), decoder.new_cache(60)).logits)
    decoder.source.release()  # type: ignore[attr-defined]
    assert torch.equal(*found)
    assert name == "q8_0" or sorted(folder.iterdir()) == before


def test_a_gguf_file_of_the_same_blocks_gives_the_same_bits(tmp_path: Path) -> None:
    model = write_published_gpt_oss(tmp_path / "model")

    def kind(name: str) -> Kind:
        return Kind.MXFP4 if "_exps" in name else Kind.BF16

    (tmp_path / "gguf").mkdir()
    write_gguf(model, tmp_path / "gguf" / "model.gguf", kind)
    first, second = (load(tmp_path / name, "auto") for name in ("model", "gguf"))
    for one, other in zip(first.layers, second.layers, strict=True):
        gate_up = one.experts.gate_up[2]
        parts = torch.cat([blocks.unpack(part.matrix) for part in other.experts.gate_up[2].parts])  # type: ignore[attr-defined]
        assert torch.equal(blocks.unpack(gate_up.matrix), parts)  # type: ignore[attr-defined]
    assert torch.equal(logits(first, tmp_path / "model"), logits(second, tmp_path / "gguf"))


@pytest.mark.parametrize(
    "change",
    [
        lambda tensors: tensors.update(
            {f"{EXPERTS}down_proj_blocks": tensors[f"{EXPERTS}down_proj_blocks"][..., :12].contiguous()}
        ),
        lambda tensors: tensors.update(
            {f"{EXPERTS}down_proj_scales": tensors[f"{EXPERTS}down_proj_scales"][..., :1].contiguous()}
        ),
        lambda tensors: tensors.pop(f"{EXPERTS}down_proj_scales"),
    ],
    ids=["blocks", "scales", "no scales"],
)
def test_blocks_that_are_cut_are_told_in_one_sentence(change: Callable[[Tensors], object], folder: Path) -> None:
    with pytest.raises(WeightsCorrupt, match=r"experts\.down_proj_blocks .* cut or missing; download"):
        Checkpoint(rewritten(folder, change))


def test_missing_blocks_and_missing_experts_are_named(folder: Path) -> None:
    def fewer(tensors: Tensors) -> None:
        for name in [name for name in tensors if name.startswith(EXPERTS)]:
            tensors[name] = tensors[name][:7].contiguous()
        del tensors["model.layers.0.mlp.experts.gate_up_proj_blocks"]
        del tensors["model.layers.0.mlp.experts.gate_up_proj_scales"]

    with pytest.raises(TensorMismatch) as caught:
        load(rewritten(folder, fewer))
    assert "model.layers.0.mlp.experts.0.gate_up_proj.weight" in caught.value.message
    assert "model.layers.1.mlp.experts.7.gate_up_proj.weight" in caught.value.details


def test_a_file_that_is_cut_is_told(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-9000])
    with pytest.raises(WeightsCorrupt, match="is truncated"):
        Checkpoint(folder)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"swiglu_limit": 9.0}, "knows swiglu_limit as 7.0 alone"),
        ({"quantization_config": {"quant_method": "vptq"}}, "is quantized .quantization_config, vptq"),
        ({"num_experts_per_tok": 9}, "9 experts per token where there are 8"),
    ],
)
def test_what_cannot_be_run_is_refused(changes: dict[str, object], sentence: str, folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))
    with pytest.raises(TenonError, match=sentence):
        read_config(CheckpointOutline(folder))
