"""Partial offload and layer offload on a real GPU."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine.kernels import blocks
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.kv_cache import Side
from engine.model.linear import DequantizedLinear
from engine.model.loader import load_layers, load_weights
from engine.model.packed_loader import pack
from engine.model.weight_format import weight_format
from engine.placement.device import Link, copies_to
from engine.placement.layer_offload import LayerOffload
from engine.placement.split import Split
from engine.planning.hardware import find_gpu
from engine.weights.checkpoint import Checkpoint
from tests.support.checkpoints import write_checkpoint
from tests.support.decoders import load_decoder
from tests.support.engine_client import EngineClient
from tests.support.packed_models import PACKED

GPU = find_gpu()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(GPU is None, reason="no GPU")]
PROMPT = "one two three four one two three four one two " * 3
LAYERS = 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("deep") / "llama", "llama", num_hidden_layers=LAYERS)


@pytest.mark.parametrize("layers", [1, 3, LAYERS])
@pytest.mark.parametrize("mode", ["offload", "layer-offload"])
def test_the_text_is_the_cpu_s(mode: str, layers: int, client: EngineClient, folder: Path) -> None:
    options = {"weights": "fp32", "max_tokens": 48, "context": 512}
    alone = client.answer(PROMPT, folder, mode="plain", vram_budget_bytes=0, **options)
    reply = client.answer(PROMPT, folder, mode=mode, gpu_layers=layers, **options)
    assert reply.token_ids == alone.token_ids
    assert str(reply.devices["target"]).startswith(f"{GPU} ({layers} of {LAYERS} layers")
    assert reply.memory.device_peak_bytes[str(GPU)] > 0


@pytest.mark.parametrize("weights", PACKED)
def test_packed_layers_answer(weights: str, client: EngineClient, tmp_path: Path) -> None:
    own = write_checkpoint(tmp_path / "own", "llama", num_hidden_layers=LAYERS)
    options = {"weights": weights, "max_tokens": 24, "context": 512}
    replies = [
        client.answer(PROMPT, own, mode=mode, gpu_layers=layers, **options)
        for mode, layers in (("offload", LAYERS), ("layer-offload", LAYERS), ("layer-offload", 1))
    ]
    assert len({reply.token_ids for reply in replies}) == 1


@pytest.mark.parametrize("name", PACKED)
def test_a_packed_matrix_there_is_the_one_here(name: str) -> None:
    assert GPU is not None
    packed = pack(
        torch.randn(700, 512, generator=torch.Generator().manual_seed(0)),
        weight_format(name).matrix_kind(512),
    )
    there = replace(packed, data=packed.data.to(GPU))
    assert torch.equal(blocks.unpack(there, 0, 700).cpu(), blocks.unpack(packed))
    rows = torch.randn(5, 512)
    found = DequantizedLinear(there)(rows.to(GPU)).cpu()
    torch.testing.assert_close(found, rows @ blocks.unpack(packed).t(), atol=1e-2, rtol=1e-2)


@pytest.mark.skipif(GPU is None or GPU.type == "mps", reason="no streams")
def test_layers_that_pass_are_whole_however_long_copies_and_products_take(folder: Path) -> None:
    """Pitfall 14 of the fifteen, on the device's own streams: each side is made late in turn."""
    assert GPU is not None
    checkpoint = Checkpoint(folder)
    config = read_config(checkpoint)
    cpu = torch.device("cpu")
    host = load_weights(checkpoint, config, torch.float32, cpu, wanted=())
    link, copies = Link(GPU), copies_to(GPU)
    layers = LayerOffload(
        lambda index: load_layers(checkpoint, config, range(index, index + 1), torch.float32, cpu)[0],
        LAYERS,
        range(LAYERS - 1),
        2,
        torch.float32,
        link,
        copies,
    )
    side = Side(str(GPU), GPU, torch.float32, torch.float32)
    decoder = Decoder(config, Split(host, layers, side, link))
    tokens = torch.arange(3, 40)
    whole = load_decoder(folder)
    expected = whole.forward(tokens, torch.arange(37), whole.new_cache(64)).logits
    module = torch.get_device_module(GPU)
    busy = torch.randn(2000, 2000, device=GPU)
    for late in ("neither", "compute", "copy"):
        for _ in range(5):
            if late == "compute":
                busy @ busy
            elif late == "copy":
                with module.stream(copies._stream):  # type: ignore[attr-defined]
                    busy @ busy
            found = decoder.forward(tokens, torch.arange(37), decoder.new_cache(64)).logits
            torch.testing.assert_close(found, expected, atol=1e-3, rtol=1e-3)
