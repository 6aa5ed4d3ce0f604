"""Packed formats from a checkpoint to logits: what matrices are in, what cannot be, and what is said of it."""

from __future__ import annotations

import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.errors import Cancelled
from engine.kernels import blocks, library
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.footprint import weight_bytes
from engine.model.linear import PackedLinear
from engine.model.weight_format import stored_format, weight_format
from engine.placement.resident import Resident
from engine.weights.checkpoint import Checkpoint
from tests.support.checkpoints import VARIANTS, all_experts, write_checkpoint
from tests.support.decoders import prefill
from tests.support.fast_cases import families
from tests.support.packed_models import PACKED, TOKENS, assert_only_rounded, kinds_of, load, logits


@pytest.fixture
def folder(tmp_path: Path, llama_folder: Path) -> Path:
    """A copy of a checkpoint that may be written to."""
    return Path(shutil.copytree(llama_folder, tmp_path / "model"))


@pytest.mark.parametrize("variant", families(VARIANTS))
@pytest.mark.parametrize("weights", PACKED)
def test_logits_are_those_of_the_rounded_weights(
    variant: str, weights: str, checkpoint_of: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = checkpoint_of(variant)
    if all_experts(variant):
        folder = write_checkpoint(tmp_path / "all", variant, **all_experts(variant))
    loaded = load(folder, weights)
    assert_only_rounded(logits(loaded, folder), loaded, lambda weights: logits(weights, folder))
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
        decoder.forward(torch.tensor([7, 8, sibling]), positions, cache, mask=mask).logits for sibling in (9, 300)
    ]
    assert torch.equal(outputs[0][:2], outputs[1][:2])
    assert not torch.equal(outputs[0][2], outputs[1][2])


def test_nothing_is_written_beside_a_model(folder: Path) -> None:
    before = sorted(folder.iterdir())
    assert torch.equal(logits(load(folder), folder), logits(load(folder), folder))
    assert sorted(folder.iterdir()) == before


def test_progress_reaches_its_end(folder: Path) -> None:
    seen: list[tuple[int, int]] = []
    load(folder, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] > 0
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_cancel_ends_the_reading(folder: Path) -> None:
    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls > 12:
            raise Cancelled("stop")

    with pytest.raises(Cancelled):
        load(folder, check=check)
    load(folder)


@pytest.mark.parametrize("weights", [name for name in PACKED if name != "bf16"])
def test_a_matrix_that_a_format_cannot_hold_stays_in_16_bits_and_that_is_said(weights: str, folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    tensors["model.layers.1.mlp.down_proj.weight"][3, 4] = 1e30
    save_file(tensors, folder / "model.safetensors")
    loaded = load(folder, weights)
    (note,) = loaded.notes
    assert f"1 of the model's matrices do not fit {weights} and stay in bf16" in note
    assert "model.layers.1.mlp.down_proj" in note
    assert kinds_of(loaded.layers[1].down) == ["BF16"]
    assert "BF16" not in kinds_of(loaded.layers[0].down)


def test_columns_that_fill_no_block_fall_back_and_that_is_said(tmp_path: Path) -> None:
    """As in llama.cpp: what 256 do not divide takes blocks of 32, what these do not takes 16 bits."""
    folder = write_checkpoint(
        tmp_path / "odd", hidden_size=256, head_dim=36, intermediate_size=288, num_hidden_layers=3
    )
    loaded = load(folder, "q4_k_m")
    layer = loaded.layers[1]
    assert kinds_of(layer.qkv) == ["Q4_K", "Q4_K", "Q4_K"]
    assert kinds_of(layer.gate_up) == ["Q4_K", "Q4_K"]
    assert kinds_of(layer.output) == ["BF16"]
    assert kinds_of(layer.down) == ["Q8_0"]
    assert kinds_of(loaded.head) == ["Q6_K"]
    (note,) = loaded.notes
    assert "3 of the model's matrices do not fit q4_k_m and stay in bf16" in note
    assert weight_bytes(read_config(Checkpoint(folder)), weight_format("q4_k_m")) == loaded.size_bytes


def test_the_mixture_keeps_sensitive_matrices_finer(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "deep", hidden_size=256, intermediate_size=256, num_hidden_layers=8)
    loaded = load(folder, "q4_k_m")
    finer = [kinds_of(layer.down) == ["Q6_K"] for layer in loaded.layers]
    assert finer == [True, False, False, True, False, False, True, True]
    for layer, fine in zip(loaded.layers, finer, strict=True):
        assert kinds_of(layer.qkv) == ["Q4_K", "Q4_K", "Q6_K" if fine else "Q4_K"]
        assert kinds_of(layer.output) == ["Q4_K"]
    assert kinds_of(loaded.head) == ["Q6_K"]
    assert kinds_of(load(folder, "q8_0").head) == ["Q8_0"]


@pytest.mark.skipif(library.available() is None, reason=library.reason())
@pytest.mark.parametrize("weights", PACKED)
def test_a_processor_without_avx2_gives_almost_the_same_logits(weights: str, folder: Path) -> None:
    loaded, in_use = load(folder, weights), library.available()
    library.select("portable")
    try:
        plain = logits(loaded, folder)
    finally:
        library.select(in_use)
    assert_only_rounded(plain, loaded, lambda weights: logits(weights, folder))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_sixteen_bits_are_kept_as_they_are(dtype: torch.dtype, tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "half", dtype=dtype, attention_bias=True)
    state = load_file(folder / "model.safetensors")
    loaded = load(folder, "auto")
    name = "bf16" if dtype == torch.bfloat16 else "fp16"
    assert stored_format(read_config(Checkpoint(folder))).name == name
    output = loaded.layers[0].output
    assert isinstance(output, PackedLinear)
    assert torch.equal(blocks.unpack(output.matrix), state["model.layers.0.self_attn.o_proj.weight"].float())
    assert torch.equal(
        loaded.embedding(torch.tensor([7, 3])).float(), state["model.embed_tokens.weight"][[7, 3]].float()
    )


def test_reading_holds_a_few_pieces_at_a_time(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "wide", num_hidden_layers=12, intermediate_size=512)
    tracemalloc.start()
    load(folder)
    # torch's own memory is not traced; Python must not hold the file's bytes beside it.
    assert tracemalloc.get_traced_memory()[1] < 2 << 20
    tracemalloc.stop()


def test_pieces_are_as_good_as_whole_tensors(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {weights: logits(load(folder, weights), folder) for weights in PACKED}
    monkeypatch.setattr("engine.weights.direct_reader.PIECE_BYTES", 4096)
    for weights, expected in whole.items():
        assert torch.equal(logits(load(folder, weights), folder), expected)


def test_bf16_is_dense_without_the_library_and_packed_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "available", lambda: "portable")
    packed = weight_format("bf16")
    monkeypatch.setattr(library, "available", lambda: None)
    dense = weight_format("bf16")
    assert (packed.packed, packed.activations) == (True, torch.float32)
    assert (dense.packed, dense.activations) == (False, torch.bfloat16)
    assert packed.cache == dense.cache == torch.bfloat16
    assert not weight_format("fp32").packed
    with pytest.raises(KeyError):
        weight_format("int8")
