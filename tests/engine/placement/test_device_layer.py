"""Layers on a device keep their format: packed bytes go there, and a piece at a time is dequantized."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch.nn import functional

from engine.kernels import blocks
from engine.model import linear
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.kv_cache import Side
from engine.model.layer import LayerWeights
from engine.model.linear import DequantizedLinear, Linear, Norm
from engine.model.packed_loader import pack
from engine.model.weight_format import weight_format
from engine.placement.device import device_layer, layer_tensors
from engine.placement.resident import Resident
from engine.placement.split import DeviceLayers, Split
from engine.weights.checkpoint import Checkpoint
from tests.support.packed_models import PACKED, TOKENS, dequantized, load
from tests.support.sides import DEVICE, HOST, GuardedLink, Sides

CPU = torch.device("cpu")


@pytest.mark.parametrize("name", PACKED)
@pytest.mark.parametrize("shape", [(70, 96), (33, 40), (200, 256)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_product_is_that_of_the_dequantized_matrix(
    name: str, shape: tuple[int, int], dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = torch.Generator().manual_seed(0)
    packed = pack(torch.randn(shape, generator=generator), weight_format(name).matrix_kind(shape[1]))
    rows = torch.randn(5, shape[1], generator=generator).to(dtype)
    bias = torch.randn(shape[0], generator=generator).to(dtype)
    dense = blocks.unpack(packed).to(dtype)
    for piece in (1 << 22, 64 * shape[1], 1):
        monkeypatch.setattr(linear, "_PIECE_WEIGHTS", piece)
        for added in (bias, None):
            found = DequantizedLinear(packed, added)(rows)
            torch.testing.assert_close(found, functional.linear(rows, dense, added), atol=1e-5, rtol=1e-2)
            assert found.dtype == dtype
    assert DequantizedLinear(packed, bias).size_bytes == packed.size_bytes + bias.nbytes


@pytest.mark.parametrize("variant", ["llama", "qwen2", "gemma3", "qwen3"])
@pytest.mark.parametrize("name", PACKED)
def test_packed_layers_on_the_device_compute_what_they_stand_for(
    variant: str, name: str, checkpoint_of: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(checkpoint_of(variant), tmp_path / "model"))
    config = read_config(Checkpoint(folder))
    weights = load(folder, name)
    sides = Sides()
    link = GuardedLink(sides)
    layers = []
    for layer in weights.layers:
        sides.mark(layer_tensors(layer, torch.float32), HOST)
        layers.append(device_layer(layer, map(link.to_device, layer_tensors(layer, torch.float32))))
    assert link.to_device_bytes == sum(layer.size_bytes for layer in weights.layers)
    assert sum(layer.size_bytes for layer in layers) == link.to_device_bytes
    assert any(isinstance(part, DequantizedLinear) for part in layers[0].parts())
    split = Decoder(
        config,
        Split(
            weights,
            DeviceLayers(dict(enumerate(layers))),
            Side("device", CPU, torch.float32, torch.float32),
            link,
        ),
    )
    split.forward(TOKENS, torch.arange(len(TOKENS)), split.new_cache(64))  # tables of rotations grow once
    with sides:
        found = split.forward(TOKENS.clone(), torch.arange(len(TOKENS)), split.new_cache(64)).hidden
    assert sides.operations[DEVICE] > 100
    whole = Decoder(config, Resident(dequantized(weights)))
    expected = whole.forward(TOKENS, torch.arange(len(TOKENS)), whole.new_cache(64)).hidden
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


def test_a_matrix_that_no_format_holds_goes_there_dense(llama_folder: Path, tmp_path: Path) -> None:
    layer = load(
        Path(shutil.copytree(llama_folder, tmp_path / "model", ignore=shutil.ignore_patterns("*.packed"))),
        PACKED[0],
    ).layers[0]
    weight = torch.randn(4 * 32, 64)
    mixed = LayerWeights(layer.attention_norm, Linear(weight), layer.output, layer.mlp_norm, layer.gate_up, layer.down)
    moved = device_layer(mixed, layer_tensors(mixed, torch.bfloat16))
    assert isinstance(moved.qkv, Linear)
    assert torch.equal(moved.qkv.weight, weight.bfloat16())
    assert isinstance(moved.down, DequantizedLinear)


def test_a_norm_elsewhere_is_the_same() -> None:
    norm = Norm(torch.rand(8), 1e-5, 1.0)
    rows = torch.randn(3, 8)
    assert torch.equal(norm.elsewhere(norm.gain.clone())(rows), norm(rows))
