"""Layers with a state that the kernel library computes: torch's results, and each row's bits whatever is beside it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.kernels import layer as kernel
from engine.kernels import library
from engine.model import text_states
from engine.model.config import read_config
from engine.model.decoder import Decoder, RowRuns, TextRows
from engine.model.footprint import activation_bytes
from engine.model.fused_layer import FusedLayer
from engine.model.kv_cache import KVCache
from engine.model.next_rows import NextText
from engine.model.packed_loader import load_packed
from engine.model.text_states import TextStates, state_bytes
from engine.model.token_tree import Draft
from engine.model.weight_format import weight_format
from engine.placement.resident import Resident
from engine.weights.checkpoint import Checkpoint

pytestmark = pytest.mark.skipif(library.available() is None, reason="there is no kernel library")
CAPACITY = 3000


def packed(folder: Path) -> Decoder:
    checkpoint = Checkpoint(folder)
    config = read_config(checkpoint)
    return Decoder(config, Resident(load_packed(checkpoint, config, weight_format("q8_0"))))


@pytest.fixture(
    params=[
        "granite-hybrid",
        "granite-hybrid-moe",
        "nemotron-h",
        "nemotron-h-moe",
        "qwen35",
        "qwen35-moe",
        "qwen3-next",
    ],
    scope="module",
)
def folder(request: pytest.FixtureRequest, checkpoint_of: Callable[[str], Path]) -> Path:
    return checkpoint_of(request.param)


@pytest.fixture(scope="module")
def decoder(folder: Path) -> Decoder:
    decoder = packed(folder)
    assert decoder.most_next, "the library computes the whole model"
    return decoder


def tokens_of(count: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(3, 300, (count,), generator=torch.Generator().manual_seed(seed))


def read(decoder: Decoder, cache: KVCache, tokens: torch.Tensor, **options: RowRuns) -> torch.Tensor:
    """Logits of tokens after a text, which are committed."""
    positions = torch.arange(cache.length, cache.length + len(tokens))
    logits = decoder.forward(tokens, positions, cache, **options).logits.clone()  # type: ignore[arg-type]
    cache.commit(range(len(tokens)))
    return logits


def test_it_gives_what_torch_gives(folder: Path, decoder: Decoder, monkeypatch: pytest.MonkeyPatch) -> None:
    text = tokens_of(150)
    ours = read(decoder, decoder.new_cache(CAPACITY), text)
    monkeypatch.setattr(FusedLayer, "made_of", lambda *arguments: None)
    plain = packed(folder)
    assert not plain.most_next
    theirs = read(plain, plain.new_cache(CAPACITY), text)
    assert float((ours - theirs).abs().mean()) < 0.02 * float(theirs.abs().mean())


def test_gates_of_heads_are_computed_beside_queries(
    checkpoint_of: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    text, folder = tokens_of(60), checkpoint_of("lfm3")
    made: list[FusedLayer | None] = []
    real = FusedLayer.made_of

    def counted(*arguments: Any) -> FusedLayer | None:
        made.append(real(*arguments))
        return made[-1]

    monkeypatch.setattr(FusedLayer, "made_of", counted)
    fused = packed(folder)
    ours = read(fused, fused.new_cache(CAPACITY), text)
    assert [layer is not None for layer in made[-4:]] == [False, True, False, True]
    monkeypatch.setattr(FusedLayer, "made_of", lambda *arguments: None)
    plain = packed(folder)
    theirs = read(plain, plain.new_cache(CAPACITY), text)
    assert float((ours - theirs).abs().mean()) < 0.02 * float(theirs.abs().mean())


def test_what_a_forward_takes_is_foreseen(decoder: Decoder, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    scratch = kernel._scratch

    def counted(size_bytes: int) -> int:
        asked.append(size_bytes)
        return scratch(size_bytes)

    monkeypatch.setattr(kernel, "_scratch", counted)
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    read(decoder, decoder.new_cache(CAPACITY), tokens_of(512))
    torch.set_num_threads(threads)
    hidden = 2 * 4 * 512 * decoder.config.hidden_size  # in and out
    assert max(asked) + hidden < activation_bytes(decoder.config, 512, 0) < 3 * (max(asked) + hidden)


def test_what_a_text_keeps_is_foreseen(decoder: Decoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_states, "_EVERY_STATES", 256)  # a mark in each piece
    assert decoder.config.delta is not None
    config = replace(decoder.config, delta=replace(decoder.config.delta, key_dim=128, value_dim=128))
    states, each, length = (
        TextStates(config, [torch.device("cpu")] * config.layers, lambda rows, layer: rows, 8),
        [0],
        0,
    )
    layers = [layer for layer in range(config.layers) if config.convolves(layer)]
    for count in (256, *[1] * 40, 64, *[256] * 12):
        states.place(length, 0, count, True)
        assert all(states.address(layer) for layer in layers)
        each.append(states.bytes)
        states.commit(range(count), ())
        length += count
    foreseen = state_bytes(config, 8)
    assert 0.8 * foreseen < max(each) / len(layers) <= foreseen


def test_a_row_has_the_same_bits_in_a_prompt_in_runs_and_step_by_step(decoder: Decoder) -> None:
    text = tokens_of(150, 1)
    whole = read(decoder, decoder.new_cache(CAPACITY), text)
    cache = decoder.new_cache(CAPACITY)
    pieces = [read(decoder, cache, part) for part in text.split([1, 1, 30, 64, 5, 1, 16, 32])]
    assert torch.equal(torch.cat(pieces), whole)
    cache, stops = decoder.new_cache(CAPACITY), []
    for token in text.tolist():
        stops.append(decoder.read_next([NextText([token], cache)], lambda: None).clone())
        cache.commit([0])
    assert torch.equal(torch.cat(stops), whole)
    cache = decoder.new_cache(CAPACITY)
    assert torch.equal(read(decoder, cache, text, row_runs=RowRuns(1e9)), whole)
    after = tokens_of(40, 2)
    other = decoder.new_cache(CAPACITY)
    read(decoder, other, text)
    assert torch.equal(read(decoder, cache, after), read(decoder, other, after))


def test_a_node_has_the_bits_of_its_path(decoder: Decoder) -> None:
    chance = random.Random(3)
    for nodes, committed in ((6, 15), (40, 30), (60, 33)):
        text = tokens_of(committed, nodes)
        cache = decoder.new_cache(CAPACITY)
        read(decoder, cache, text)
        parents = [-1 if chance.random() < 0.05 else chance.randrange(max(-1, node - 3), node) for node in range(nodes)]
        draft = Draft(tuple(tokens_of(nodes, 8).tolist()), tuple(parents))
        logits = decoder.read_next([NextText([5, *draft.tokens], cache, draft.paths)], lambda: None).clone()
        paths = {0: [0]}
        for node, parent in enumerate(parents):
            paths[node + 1] = [*paths[parent + 1], node + 1]
        for row in (nodes, nodes // 2, nodes // 3):
            path = torch.tensor([[5, *draft.tokens][at] for at in paths[row]])
            alone = decoder.new_cache(CAPACITY)
            read(decoder, alone, text)
            assert torch.equal(read(decoder, alone, path)[-1], logits[row])
        longest = max(paths.values(), key=len)
        cache.commit(longest)
        alone = decoder.new_cache(CAPACITY)
        read(decoder, alone, torch.cat((text, torch.tensor([[5, *draft.tokens][at] for at in longest]))))
        after = tokens_of(20, 4)
        assert torch.equal(read(decoder, cache, after), read(decoder, alone, after))


def test_texts_beside_each_other_change_nothing(decoder: Decoder) -> None:
    texts = [tokens_of(count, count) for count in (100, 7, 33)]
    caches = [decoder.new_cache(CAPACITY) for _ in texts]
    together = decoder.forward_together(
        [TextRows(text, torch.arange(len(text)), cache) for text, cache in zip(texts, caches, strict=True)]
    ).logits
    for text, logits in zip(texts, together.split([len(text) for text in texts]), strict=True):
        assert torch.equal(logits, read(decoder, decoder.new_cache(CAPACITY), text))


def test_a_kept_state_goes_on_with_the_same_bits(decoder: Decoder) -> None:
    text, cache = tokens_of(2300, 5), decoder.new_cache(CAPACITY)
    cache.expect([len(text)])
    for piece in text.split(500):
        read(decoder, cache, piece)
    whole = read(decoder, cache, tokens_of(30, 6))
    for wanted, least in ((2292, 2276), (2100, 2048)):
        kept = cache.truncate(wanted)
        assert least <= kept <= wanted
        read(decoder, cache, text[kept:])
        assert torch.equal(read(decoder, cache, tokens_of(30, 6)), whole)
