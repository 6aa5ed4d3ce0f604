"""Weights into memory: nothing missing passes, the bytes are as predicted, and a load can be cancelled."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.errors import Cancelled, TensorMismatch
from engine.kernels import library
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.footprint import cache_bytes, weight_bytes
from engine.model.layer import ModelWeights
from engine.model.loader import load_weights, read_slots
from engine.model.tensors import Slot, expected_tensors, input_embedding_slot
from engine.model.weight_format import weight_format
from engine.placement.resident import Resident
from engine.weights.checkpoint import Checkpoint
from engine.weights.watched_file import WatchedFile
from tests.support import packed_models
from tests.support.checkpoints import VARIANTS, write_checkpoint
from tests.support.fast_cases import families

CPU = torch.device("cpu")


def load(folder: Path, dtype: torch.dtype = torch.float32, **hooks: Any) -> ModelWeights:
    checkpoint = Checkpoint(folder)
    return load_weights(checkpoint, read_config(checkpoint), dtype, CPU, **hooks)


def rewrite(folder: Path, change: Callable[[dict[str, torch.Tensor]], None]) -> Path:
    """Change the tensors of a checkpoint with one weights file."""
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")
    return folder


@pytest.mark.parametrize("variant", families(VARIANTS))
@pytest.mark.parametrize("name", ["fp32", "bf16"])
def test_bytes_are_those_predicted_from_the_config(
    variant: str, name: str, checkpoint_of: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "available", lambda: None)
    dense = weight_format(name)
    checkpoint = Checkpoint(checkpoint_of(variant))
    config = read_config(checkpoint)
    weights = load_weights(checkpoint, config, dense.dense, CPU)
    assert set(expected_tensors(config)) == checkpoint.names
    assert weights.size_bytes == weight_bytes(config, dense)
    assert Resident(weights).bytes_by_device == {"cpu": weights.size_bytes}
    assert weights.parameters == sum(checkpoint.tensor(name).numel() for name in checkpoint.names)
    cache = Decoder(config, Resident(weights)).new_cache(200)
    if config.convolution:  # states of a longer text are kept beside the present ones
        assert cache.bytes < cache_bytes(config, 200, dense)
    else:
        assert cache.bytes == cache_bytes(config, 200, dense)


@pytest.mark.parametrize("part", ["layers.1.self_attn.k_proj", "layers.2.mlp.down_proj", "norm", "embed_tokens"])
def test_a_missing_weight_is_named(tmp_path: Path, part: str) -> None:
    name = f"model.{part}.weight"
    folder = rewrite(write_checkpoint(tmp_path / "model", tokenizer=False), lambda tensors: tensors.pop(name))
    with pytest.raises(TensorMismatch) as caught:
        load(folder)
    assert name in caught.value.message
    assert "1 missing" in caught.value.message


def test_missing_experts_and_a_router_of_another_width_are_named(tmp_path: Path) -> None:
    def change(tensors: dict[str, torch.Tensor]) -> None:
        for part in ("gate_proj", "up_proj", "down_proj"):
            del tensors[f"model.layers.2.mlp.experts.11.{part}.weight"]
        tensors["model.layers.0.mlp.gate.weight"] = torch.zeros(11, 64)

    folder = write_checkpoint(tmp_path / "model", "qwen3-moe", tokenizer=False)
    with pytest.raises(TensorMismatch) as caught:
        load(rewrite(folder, change))
    assert "3 missing (model.layers.2.mlp.experts.11." in caught.value.message
    assert "model.layers.0.mlp.gate.weight is (11, 64) and not (12, 64)" in caught.value.message


def test_a_missing_head_is_named_where_it_is_not_tied(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "model", tokenizer=False)
    rewrite(folder, lambda tensors: tensors.pop("lm_head.weight"))
    with pytest.raises(TensorMismatch, match=r"lm_head\.weight"):
        load(folder)


def test_unexpected_and_misshapen_tensors_are_named_and_counted(tmp_path: Path) -> None:
    def change(tensors: dict[str, torch.Tensor]) -> None:
        for index in range(5):
            tensors[f"model.layers.{index}.adapter.weight"] = torch.zeros(1)
        tensors["model.norm.weight"] = torch.zeros(7)

    with pytest.raises(TensorMismatch) as caught:
        load(rewrite(write_checkpoint(tmp_path / "model", tokenizer=False), change))
    assert "5 unexpected (model.layers.0.adapter.weight" in caught.value.message
    assert "model.norm.weight is (7,) and not (64,)" in caught.value.message
    assert "model.layers.4.adapter.weight" in caught.value.details


def test_known_extras_are_harmless(tmp_path: Path) -> None:
    def change(tensors: dict[str, torch.Tensor]) -> None:
        tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = torch.zeros(8)
        tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"].clone()

    folder = write_checkpoint(tmp_path / "model", "llama-tied", tokenizer=False)
    assert load(rewrite(folder, change)).tied


def test_fused_rows_that_nothing_fills_are_a_mismatch(llama_folder: Path) -> None:
    slots = [Slot("model.norm.weight", (64,), "norm"), Slot("model.norm.weight", (64,), "norm", 100)]
    with pytest.raises(TensorMismatch, match="128 of 164"):
        read_slots(Checkpoint(llama_folder), slots, torch.float32, CPU, lambda count: None, lambda: None)


def test_progress_rises_from_nothing_to_all(llama_folder: Path) -> None:
    steps: list[tuple[int, int]] = []
    load(llama_folder, progress=lambda done_bytes, total_bytes: steps.append((done_bytes, total_bytes)))
    assert steps[0][0] == 0
    assert steps[-1][0] == steps[-1][1]
    assert [done for done, _ in steps] == sorted({done for done, _ in steps})


def test_a_load_is_cancelled_at_the_next_slice(llama_folder: Path) -> None:
    looks: list[float] = []

    def check() -> None:
        looks.append(time.monotonic())
        if len(looks) == 5:
            raise Cancelled("")

    with pytest.raises(Cancelled):
        load(llama_folder, check=check)
    assert len(looks) == 5


def test_a_released_placement_holds_nothing(llama_folder: Path) -> None:
    placement = Resident(load(llama_folder))
    placement.release()
    with pytest.raises(AssertionError):
        placement.layer(0)


@pytest.mark.parametrize("weights", ["fp32", "q8_0"])
def test_of_per_layer_embeddings_a_row_is_read_for_each_token(
    weights: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That table is as large as Gemma 4's E models: loading reads nothing of it, and a token one row."""
    folder = write_checkpoint(tmp_path, "gemma4-inputs", tokenizer=False)
    checkpoint = Checkpoint(folder)
    config = read_config(checkpoint)
    table = checkpoint.stored(input_embedding_slot(config).name)
    sizes: list[int] = []
    read = WatchedFile.read

    def watched(file: WatchedFile, parts: Iterable[tuple[int, memoryview]], *rest: Any, **more: Any) -> None:
        parts = list(parts)
        last = table.start + table.size_bytes
        sizes.extend(len(target) for start, target in parts if table.start <= start < last)
        read(file, parts, *rest, **more)

    monkeypatch.setattr(WatchedFile, "read", watched)
    loaded = load(folder) if weights == "fp32" else packed_models.load(folder, weights)
    assert sizes == []
    decoder = Decoder(config, Resident(loaded))
    decoder.forward(torch.tensor([5, 9, 5]), torch.arange(3), decoder.new_cache(8))
    assert sizes == [table.row_bytes] * 3
