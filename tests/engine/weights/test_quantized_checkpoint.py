"""Checkpoints that others have quantized: their numbers, the types that they become, and parts that do not fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.errors import WeightsCorrupt, WeightsNotFinite
from engine.kernels import blocks
from engine.model.config import read_config
from engine.model.converted import streams_as_it_is
from engine.model.linear import PackedLinear
from engine.model.weight_format import stored_format, weight_format
from engine.weights.checkpoint import Checkpoint, CheckpointOutline
from tests.support.decoders import greedy, load_decoder, reference_greedy
from tests.support.packed_models import assert_only_rounded, kinds_of, load, logits
from tests.support.quantized_checkpoints import FORMATS, Tensors, write_quantized
from tests.support.streams import resident_decoder, streamed_decoder

PROMPT = torch.arange(3, 43)
DOWN = "model.layers.1.mlp.down_proj."


def rewritten(folder: Path, change: Callable[[Tensors], object]) -> Path:
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")
    return folder


@pytest.mark.parametrize("name", FORMATS)
@torch.no_grad()
def test_numbers_and_text_are_those_of_the_reference(name: str, tmp_path: Path) -> None:
    model = write_quantized(tmp_path, FORMATS[name])
    checkpoint = Checkpoint(tmp_path)
    own = model.state_dict()
    assert checkpoint.names - own.keys() == set()
    for one in checkpoint.names:
        assert torch.equal(checkpoint.tensor(one).float(), own[one]), one
    decoder = load_decoder(tmp_path)
    ours = decoder.forward(PROMPT, torch.arange(40), decoder.new_cache(40)).logits
    torch.testing.assert_close(ours, model(PROMPT[None]).logits[0], atol=1e-4, rtol=1e-4)
    model.generation_config.eos_token_id = None
    assert greedy(decoder, PROMPT, 8) == reference_greedy(model, PROMPT.tolist(), 8)


@pytest.mark.parametrize("name", FORMATS)
def test_matrices_become_the_nearest_type(name: str, tmp_path: Path) -> None:
    form = FORMATS[name]
    write_quantized(tmp_path, form)
    checkpoint = Checkpoint(tmp_path)
    config = read_config(checkpoint)
    assert config.quantization == checkpoint.quantization == CheckpointOutline(tmp_path).quantization
    loaded = load(tmp_path, "auto")
    down = loaded.layers[1].down
    assert kinds_of(down) == [form.kind]
    assert stored_format(config).name == form.kind
    if config.quantization == "MXFP4":
        assert loaded.notes == ()
    else:
        assert loaded.notes == (f"The model is published in {config.quantization}, and computed with as {form.kind}.",)
    assert_only_rounded(logits(loaded, tmp_path), loaded, lambda weights: logits(weights, tmp_path))
    assert isinstance(down, PackedLinear)
    exact, found = checkpoint.tensor(f"{DOWN}weight"), blocks.unpack(down.matrix)
    assert torch.equal(found, exact) if form.exact else (found - exact).norm() < 0.01 * exact.norm()


@pytest.mark.parametrize("weights", ["auto", "bf16", "q4_k_m", "fp32"])
def test_what_streams_says_what_is_in_memory(weights: str, tmp_path: Path) -> None:
    write_quantized(tmp_path, FORMATS["fp8-block"], num_hidden_layers=3)
    config = read_config(Checkpoint(tmp_path))
    chosen = stored_format(config) if weights == "auto" else weight_format(weights)
    assert streams_as_it_is(config, chosen) == (weights == "fp32")
    streamed = streamed_decoder(tmp_path, chosen, 1, 2)
    resident = resident_decoder(tmp_path, chosen)
    places = torch.arange(40)
    assert torch.equal(
        streamed.forward(PROMPT, places, streamed.new_cache(40)).logits,
        resident.forward(PROMPT, places, resident.new_cache(40)).logits,
    )
    streamed.source.release()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda tensors: tensors.pop(f"{DOWN}weight_scale_inv"), r"down_proj\.weight_scale is missing"),
        (lambda tensors: tensors.update({f"{DOWN}weight_scale_inv": torch.ones(3, 2)}), r"\(256, 192\) and \(3, 2\)"),
        (lambda tensors: tensors.update({f"{DOWN}weight_scale_inv": torch.ones(0)}), r"\(256, 192\) and \(0,\)"),
    ],
)
def test_parts_that_do_not_fit_are_named(change: Callable[[Tensors], object], problem: str, tmp_path: Path) -> None:
    write_quantized(tmp_path, FORMATS["fp8-block"])
    with pytest.raises(WeightsCorrupt, match=problem):
        Checkpoint(rewritten(tmp_path, change))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("weights", ["auto", "bf16", "fp32"])
def test_a_scale_that_is_not_finite_is_refused(value: float, weights: str, tmp_path: Path) -> None:
    write_quantized(tmp_path, FORMATS["fp8-block"])

    def spoil(tensors: Tensors) -> None:
        tensors[f"{DOWN}weight_scale_inv"][1, 0] = value

    rewritten(tmp_path, spoil)
    with pytest.raises(WeightsNotFinite, match=r"layers\.1\.mlp\.down_proj\.weight holds numbers that are infinite"):
        load_decoder(tmp_path) if weights == "fp32" else load(tmp_path, weights)
