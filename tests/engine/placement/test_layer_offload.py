"""Layers that pass through a ring of buffers: the right bytes at the right time, whatever the order of copies."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from engine.errors import Cancelled
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.kv_cache import Side
from engine.model.loader import load_layers, load_weights
from engine.placement.device import Copies, Link, copies_to
from engine.placement.layer_offload import LayerOffload, LayerOffloadPlan
from engine.placement.split import Split
from engine.weights.checkpoint import Checkpoint
from tests.support.checkpoints import write_checkpoint
from tests.support.copies import LateCopies
from tests.support.decoders import greedy, load_decoder
from tests.support.fast_cases import covering
from tests.support.packed_models import PACKED, load
from tests.support.sides import DEVICE, HOST, GuardedLink, Sides, weights_of

CPU = torch.device("cpu")
LAYERS = 7
PROMPT = torch.arange(3, 40)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("deep") / "llama", "llama", num_hidden_layers=LAYERS)


def passing(layers: int, staying: int) -> list[int]:
    """The layers that are copied."""
    places = LayerOffloadPlan.of(layers, staying).layers
    return [index for index, place in enumerate(places) if place.copied]


def offloaded(
    folder: Path, staying: int, buffers: int, copies: Copies, link: Link | None = None
) -> tuple[Decoder, LayerOffload]:
    checkpoint = Checkpoint(folder)
    config = read_config(checkpoint)
    host = load_weights(checkpoint, config, torch.float32, CPU, wanted=())
    link = Link(CPU) if link is None else link
    layers = LayerOffload(
        lambda index: load_layers(checkpoint, config, range(index, index + 1), torch.float32, CPU)[0],
        config.layers,
        passing(config.layers, staying),
        buffers,
        torch.float32,
        link,
        copies,
    )
    return Decoder(config, Split(host, layers, Side("device", CPU, torch.float32, torch.float32), link)), layers


@pytest.mark.parametrize(("staying", "buffers"), covering(range(LAYERS + 1), [2, 3], together=1))
def test_the_text_is_the_resident_model_s(folder: Path, staying: int, buffers: int) -> None:
    """Pitfall 14 of the fifteen: no layer is read before its copy landed, none is overwritten while it computes."""
    copied = LAYERS - staying
    copies, link = LateCopies(), Link(CPU)
    decoder, layers = offloaded(folder, staying, buffers, copies, link)
    assert greedy(decoder, PROMPT, 12) == greedy(load_decoder(folder), PROMPT, 12)
    assert copies.landed == 12 * copied
    if copied:
        # Copies that were begun beyond that are for the next forward.
        assert 0 < copies.started - copies.landed <= buffers
        each = layers.host_bytes // copied
        assert link.to_device_bytes == copies.started * each


def test_a_forward_that_was_cancelled_leaves_no_wrong_layer(folder: Path) -> None:
    copies = LateCopies()
    decoder, _ = offloaded(folder, 2, 2, copies)
    whole = load_decoder(folder)
    expected = whole.forward(PROMPT, torch.arange(len(PROMPT)), whole.new_cache(64)).logits
    order = random.Random(3)
    for _ in range(20):
        left = order.randrange(LAYERS + 2)

        def check() -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise Cancelled("")

        cache = decoder.new_cache(64)
        try:
            found = decoder.forward(PROMPT, torch.arange(len(PROMPT)), cache, check=check).logits
        except Cancelled:
            found = decoder.forward(PROMPT, torch.arange(len(PROMPT)), cache).logits
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_the_stand_in_notices_what_comes_too_early() -> None:
    """The tests above can fail."""
    copies = LateCopies()
    buffer, source = copies.device_buffer(8), torch.arange(8, dtype=torch.uint8)
    pending = copies.start(buffer, source, copies.computed())
    assert not torch.equal(buffer, source)
    early = copies.computed()
    copies.wait(pending)
    assert torch.equal(buffer, source)
    with pytest.raises(AssertionError, match="while it is computed from"):
        copies.start(buffer, source, early)


class SidedCopies(LateCopies):
    """The same on the far side of a stand-in for a device."""

    def __init__(self, sides: Sides) -> None:
        super().__init__()
        self._sides = sides

    def device_buffer(self, size_bytes: int) -> torch.Tensor:
        """Garbage there."""
        buffer = super().device_buffer(size_bytes)
        self._sides.mark(iter([buffer]), DEVICE)
        return buffer


def test_rows_and_layers_alone_cross(folder: Path) -> None:
    sides = Sides()
    link, copies = GuardedLink(sides), SidedCopies(sides)
    decoder, layers = offloaded(folder, 3, 2, copies, link)
    source, count = decoder.source, 9
    assert isinstance(source, Split)
    decoder.forward(PROMPT, torch.arange(len(PROMPT)), decoder.new_cache(64))  # tables of rotations grow once
    sides.mark(weights_of(source), HOST)
    link.to_device_bytes = link.to_host_bytes = 0
    before = copies.started
    tokens, cache = torch.arange(5, 5 + count), decoder.new_cache(64)
    with sides:
        found = decoder.forward(tokens, torch.arange(count), cache).logits
        cache.commit(range(count))
    whole = load_decoder(folder)
    expected = whole.forward(torch.arange(5, 5 + count), torch.arange(count), whole.new_cache(64)).logits
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)
    rows = count * whole.config.hidden_size * 4
    each = layers.host_bytes // (LAYERS - 3)
    assert link.to_host_bytes == rows
    assert link.to_device_bytes == rows + 8 * count + (copies.started - before) * each
    assert sides.operations[DEVICE] > 100


@pytest.mark.parametrize("name", PACKED)
def test_packed_layers_pass_packed(name: str, checkpoint_of: Callable[[str], Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(checkpoint_of("qwen2"), tmp_path / "model"))
    weights = load(folder, name)
    config = read_config(Checkpoint(folder))
    found = []
    for staying, copies in ((0, LateCopies()), (config.layers, Copies(CPU))):
        layers = LayerOffload(
            weights.layers.__getitem__,
            config.layers,
            passing(config.layers, staying),
            2,
            torch.float32,
            Link(CPU),
            copies,
        )
        side = Side("device", CPU, torch.float32, torch.float32)
        decoder = Decoder(config, Split(weights, layers, side, Link(CPU)))
        found.append(decoder.forward(PROMPT, torch.arange(len(PROMPT)), decoder.new_cache(64)).logits)
        packed_bytes = sum(layer.size_bytes for layer in weights.layers)
        # Tensors begin at multiples of 256 bytes.
        held = layers.host_bytes or layers.size_bytes
        assert packed_bytes <= held < packed_bytes + config.layers * 16 * 256
    assert torch.equal(*found)


def test_memory_is_counted_and_given_back(folder: Path) -> None:
    decoder, layers = offloaded(folder, 3, 2, copies_to(CPU))
    assert isinstance(decoder.source, Split)
    each = layers.host_bytes // 4
    assert len(layers.indexes) == LAYERS
    assert decoder.source.bytes_by_device["device"] == layers.size_bytes
    assert layers.size_bytes < 5 * each + 1
    decoder.source.release()
    assert (layers.size_bytes, layers.host_bytes) == (0, 0)
