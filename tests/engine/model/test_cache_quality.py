"""Cost of 8-bit keys and values, and of attention in bfloat16, in a real model's predictions."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.kernels import library
from engine.loaded_model import LoadedModel, load_model
from engine.messages import LoadOptions
from engine.model.decoder import Decoder
from engine.run import settle
from tests.support.real_models import ABSENT, real_model

REPOSITORY = Path(__file__).resolve().parents[3]
TOKENS, PIECE = 1024, 256

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(library.available() is None, reason=library.reason()),
    pytest.mark.skipif(real_model() is None, reason=ABSENT),
]


def load(weights: str, kv_cache: str = "full") -> LoadedModel:
    options = LoadOptions(model=str(real_model()), weights=weights, kv_cache=kv_cache, threads=2, context=TOKENS)
    return load_model(settle(options))


def text(model: LoadedModel) -> Tensor:
    """English and code, half and half."""
    halves = (REPOSITORY / "ARCHITECTURE.md", REPOSITORY / "engine" / "model" / "decoder.py")
    texts = (model.tokenizer.encode(half.read_text(encoding="utf-8")) for half in halves)
    return torch.tensor([token for ids in texts for token in ids[: TOKENS // 2]])


def predictions(model: LoadedModel, tokens: Tensor) -> Tensor:
    """(tokens, V) log-probabilities behind each token, the text read in pieces."""
    decoder = Decoder(model.target.config, model.placement)
    cache = decoder.new_cache(len(tokens))
    found = []
    for start in range(0, len(tokens), PIECE):
        piece = tokens[start : start + PIECE]
        positions = torch.arange(start, start + len(piece))
        found.append(decoder.forward(piece, positions, cache).logits.log_softmax(-1))
        cache.commit(torch.arange(len(piece)))
    return torch.cat(found)


def test_divergence_from_float32() -> None:
    """Weights in bfloat16, whose own noise is small, so that the cache's shows."""
    exact_model = load("fp32")
    tokens = text(exact_model)
    exact = predictions(exact_model, tokens)
    del exact_model
    models = {16: load("bf16"), 8: load("bf16", "q8_0")}

    def divergence(bits: int) -> float:
        other = predictions(models[bits], tokens)
        mean = float((exact.exp() * (exact - other)).sum(-1).mean())
        same = float((exact.argmax(-1) == other.argmax(-1)).float().mean())
        print(f"{library.available()}, {bits}-bit cache: KL {mean:.5f}, same argmax {same:.1%}")
        return mean

    before = library.available()
    found = {}
    try:
        for name, usable in library.instruction_sets().items():
            if not usable or name == "portable":
                continue
            library.select(name)
            found[name] = divergence(16)
            assert divergence(8) < found[name] + 0.001
    finally:
        library.select(before)
    assert max(found.values()) - min(found.values()) < 0.001
