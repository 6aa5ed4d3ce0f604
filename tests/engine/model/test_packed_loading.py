"""Packed formats from a checkpoint to logits, and everything that can be wrong with the file between them."""

from __future__ import annotations

import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.kernels import int4, int8, library, packing
from engine.model import packed_loader
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.footprint import weight_bytes
from engine.model.linear import Linear, PackedLinear
from engine.model.weight_format import weight_format
from engine.placement.resident import Resident
from engine.weights.checkpoint import Checkpoint
from tests.support.checkpoints import VARIANTS, write_checkpoint
from tests.support.decoders import prefill
from tests.support.packed_models import KERNELS, PACKED, TOKENS, dequantized, load, logits


@pytest.fixture
def folder(tmp_path: Path, llama_folder: Path) -> Path:
    """A copy of a checkpoint that may be written to."""
    return Path(shutil.copytree(llama_folder, tmp_path / "model", ignore=shutil.ignore_patterns("*.packed")))


@pytest.mark.parametrize("variant", sorted(VARIANTS))
@pytest.mark.parametrize("weights", PACKED)
def test_logits_are_those_of_the_rounded_weights(
    variant: str, weights: str, checkpoint_of: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(checkpoint_of(variant), tmp_path / "model"))
    loaded = load(folder, weights)
    expected = logits(dequantized(loaded, KERNELS[weights]), folder)
    # What is left is the rounding of activations and of the cache to bfloat16, through every layer.
    assert (logits(loaded, folder) - expected).norm() / expected.norm() < 0.08
    config = read_config(Checkpoint(folder))
    assert loaded.size_bytes == weight_bytes(config, weight_format(weights))
    assert loaded.notes == ()


@pytest.mark.parametrize("weights", PACKED)
def test_siblings_of_a_tree_do_not_change_each_other_s_logits(weights: str, folder: Path) -> None:
    """The losslessness rule: a token's logits never depend on which others share the forward."""
    decoder = Decoder(read_config(Checkpoint(folder)), Resident(load(folder, weights)))
    cache = prefill(decoder, TOKENS[:10], 64)
    mask = torch.tensor([[1, 0, 0], [1, 1, 0], [1, 0, 1]], dtype=torch.bool)
    positions = torch.tensor([10, 11, 11])
    outputs = [
        decoder.forward(torch.tensor([7, 8, sibling]), positions, cache, mask=mask).logits
        for sibling in (9, 300)
    ]
    assert torch.equal(outputs[0][:2], outputs[1][:2])
    assert not torch.equal(outputs[0][2], outputs[1][2])


def test_the_second_load_packs_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = logits(load(folder), folder)
    monkeypatch.setattr(packed_loader, "write_packed_file", None)
    assert torch.equal(logits(load(folder), folder), first)


def test_a_changed_checkpoint_is_packed_again(folder: Path) -> None:
    before = logits(load(folder), folder)
    tensors = load_file(folder / "model.safetensors")
    tensors["lm_head.weight"] *= 2
    tensors["extra.rotary_emb.inv_freq"] = torch.zeros(1)  # the header is what tells checkpoints apart
    save_file(tensors, folder / "model.safetensors")
    torch.testing.assert_close(logits(load(folder), folder), 2 * before)


def test_progress_reaches_its_end_while_packing_and_while_mapping(folder: Path) -> None:
    for _ in range(2):
        seen: list[tuple[int, int]] = []
        load(folder, progress=lambda done, total, seen=seen: seen.append((done, total)))
        assert seen[-1][0] == seen[-1][1] > 0
        assert [done for done, _ in seen] == sorted(done for done, _ in seen)


@pytest.mark.parametrize("weights", PACKED)
@pytest.mark.parametrize("poison", [float("nan"), float("inf")])
def test_a_matrix_that_a_format_cannot_hold_stays_dense_and_that_is_said(
    poison: float, weights: str, folder: Path
) -> None:
    tensors = load_file(folder / "model.safetensors")
    tensors["model.layers.1.mlp.down_proj.weight"][3, 4] = poison
    save_file(tensors, folder / "model.safetensors")
    for _ in range(2):
        loaded = load(folder, weights)
        (note,) = loaded.notes
        assert f"1 of the model's matrices do not fit {weights}" in note
        assert "layers.1.down" in note
        assert isinstance(loaded.layers[1].down, Linear)


@pytest.mark.parametrize("weights", PACKED)
def test_shapes_that_a_format_cannot_hold_stay_dense_and_that_is_said(
    weights: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "MAX_COLUMNS", 64)  # the maps from 96 columns to 64 have more
    for _ in range(2):
        loaded = load(folder, weights)
        (note,) = loaded.notes
        assert "3 of the model's matrices" in note
        assert "layers.0.down: 96 columns are more than 64" in note
        assert {type(layer.down) for layer in loaded.layers} == {Linear}
        assert {type(layer.qkv) for layer in loaded.layers} == {PackedLinear}
        expected = logits(dequantized(loaded, KERNELS[weights]), folder)
        assert (logits(loaded, folder) - expected).norm() < 0.08 * expected.norm()


@pytest.mark.skipif(library.available() is None, reason=library.reason())
@pytest.mark.parametrize("weights", PACKED)
def test_a_processor_without_avx2_gives_almost_the_same_logits(weights: str, folder: Path) -> None:
    loaded, in_use = load(folder, weights), library.available()
    usual = logits(loaded, folder)
    library.select("portable")
    try:
        plain = logits(loaded, folder)
    finally:
        library.select(in_use)
    assert (plain - usual).norm() < 0.05 * usual.norm()


def test_checkpoints_in_bfloat16_are_quantized_from_their_own_values(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "half", dtype=torch.bfloat16)
    stored = load_file(folder / "model.safetensors")["model.layers.0.self_attn.o_proj.weight"]
    for weights, kernels in (("int8", int8), ("int4", int4)):
        loaded = load(folder, weights).layers[0].output
        rows = torch.eye(stored.shape[1])
        torch.testing.assert_close(
            loaded(rows).t(), kernels.unpack(kernels.pack(stored)), atol=1e-6, rtol=1e-5
        )


def test_packing_holds_one_tensor_at_a_time(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "wide", num_hidden_layers=12, intermediate_size=512)
    tracemalloc.start()
    load(folder)
    # torch's own memory is not traced; Python must not hold the file's bytes beside it.
    assert tracemalloc.get_traced_memory()[1] < 2 << 20
    tracemalloc.stop()


def test_bf16_is_dense_without_the_library_and_packed_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "available", lambda: "portable")
    packed = weight_format("bf16")
    monkeypatch.setattr(library, "available", lambda: None)
    dense = weight_format("bf16")
    assert (packed.packing is not None, packed.activations) == (True, torch.float32)
    assert (dense.packing, dense.activations) == (None, torch.bfloat16)
    assert packed.cache == dense.cache == torch.bfloat16
    assert weight_format("fp32").packing is None
    with pytest.raises(KeyError):
        weight_format("int2")
