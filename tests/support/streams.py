"""Streamed models for tests, with a disk that takes its time and buffers that are poisoned once they are let go."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.errors import Cancelled
from engine.model.config import read_config
from engine.model.converted import Conversion, streams_as_it_is
from engine.model.decoder import Decoder
from engine.model.loader import load_weights
from engine.model.packed_loader import load_packed
from engine.model.weight_format import WeightFormat
from engine.placement.layer_room import LayerRing, OnDisk
from engine.placement.plan import spread
from engine.placement.resident import Resident
from engine.placement.streamed import Streamed
from engine.placement.streamed_experts import Places, StreamedExperts
from engine.weights.checkpoint import Checkpoint
from engine.weights.direct_reader import DirectReader

PROMPT = torch.arange(3, 23)
TREE = torch.tensor([[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 1, 1]], dtype=torch.bool)


def resident_decoder(folder: Path, weight_format: WeightFormat) -> Decoder:
    """All of a model in memory, in any format."""
    checkpoint = Checkpoint(folder)
    config = read_config(checkpoint)
    if weight_format.packed:
        weights = load_packed(checkpoint, config, weight_format)
    else:
        weights = load_weights(checkpoint, config, weight_format.dense, torch.device("cpu"))
    return Decoder(config, Resident(weights))


def streamed_decoder(folder: Path, weight_format: WeightFormat, pinned: int, buffers: int) -> Decoder:
    """The same from the disk. Its source is a `Streamed`, to be released."""
    model = _opened(folder, weight_format)
    return Decoder(model.config, Streamed(model, spread(model.config.layers, pinned), buffers))


def streamed_experts_decoder(folder: Path, weight_format: WeightFormat, kept: int) -> Decoder:
    """The same with experts from the disk. Its source is a `StreamedExperts`, to be released."""
    model = _opened(folder, weight_format)
    return Decoder(model.config, StreamedExperts(model, kept))


def _opened(folder: Path, weight_format: WeightFormat) -> OnDisk:
    model = OnDisk(checkpoint := Checkpoint(folder), read_config(checkpoint), weight_format)
    if streams_as_it_is(model.config, weight_format):
        return model
    conversion = Conversion(checkpoint, model.config, weight_format, folder.parent / "cache")
    return replace(model, converted=conversion.open())


def poison_what_is_let_go(patch: pytest.MonkeyPatch) -> None:
    """Fill a buffer with ones (NaN in every floating-point format) when its layer is not needed any more."""
    recycle = LayerRing._recycle

    def poisoned(ring: LayerRing, buffer: int) -> None:
        memory = ring.memory[buffer].view
        memory[:] = b"\xff" * len(memory)
        recycle(ring, buffer)

    patch.setattr(LayerRing, "_recycle", poisoned)
    take = Places.take

    def emptied(places: Places, needed: Collection[int]) -> int | None:
        start = take(places, needed)
        if start is not None:
            memory = places.memory.view[start : start + places.each_bytes]
            memory[:] = b"\xff" * len(memory)
        return start

    patch.setattr(Places, "take", emptied)


def delay_reads(patch: pytest.MonkeyPatch, seed: int, longest_s: float) -> None:
    """Let every block take a random time longer."""
    read: Callable[..., Any] = DirectReader._read_block
    chance = random.Random(seed)

    def slow(reader: DirectReader, *arguments: Any) -> None:
        time.sleep(chance.uniform(0, longest_s))
        read(reader, *arguments)

    patch.setattr(DirectReader, "_read_block", slow)


def outputs(decoder: Decoder) -> Iterator[torch.Tensor]:
    """Logits of a prompt, of a tree behind it, and of a few tokens behind that, one by one."""
    cache = decoder.new_cache(64)
    positions = torch.arange(len(PROMPT))
    yield decoder.forward(PROMPT, positions, cache).logits
    cache.commit(positions)
    yield decoder.forward(PROMPT[:4], 20 + torch.tensor([0, 1, 1, 2]), cache, mask=TREE).logits
    cache.commit([0, 2, 3])
    for position in range(23, 28):
        yield decoder.forward(PROMPT[position - 20 :][:1], torch.tensor([position]), cache).logits
        cache.commit([0])


def same(decoder: Decoder, expected: list[torch.Tensor]) -> bool:
    """True if a model computes these outputs bit for bit."""
    return all(torch.equal(found, one) for found, one in zip(outputs(decoder), expected, strict=True))


def cancel_anywhere(decoder: Decoder, forwards: int, most_calls: int) -> None:
    """Cancel some forwards, each after a random number of the calls in which it can be."""
    chance = random.Random(3)
    for _ in range(forwards):
        left = chance.randrange(most_calls)

        def stop() -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise Cancelled("stop")

        def stop_while_waiting() -> bool:
            stop()
            return False

        cache = decoder.new_cache(64)
        with contextlib.suppress(Cancelled):
            decoder.forward(PROMPT, torch.arange(len(PROMPT)), cache, check=stop, on_wait=stop_while_waiting)
