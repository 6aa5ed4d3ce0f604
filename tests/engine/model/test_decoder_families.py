"""Each family against transformers: the same weights in float32 give the same logits and the same greedy text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from engine.model.decoder import Decoder
from tests.support.checkpoints import VARIANTS
from tests.support.decoders import greedy, load_decoder, load_reference

PROMPT_LENGTH = 60
TOKENS = 64


@pytest.fixture(params=sorted(VARIANTS), scope="module")
def variant(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def decoder(variant: str, checkpoint_of: Callable[[str], Path]) -> Decoder:
    return load_decoder(checkpoint_of(variant))


@pytest.fixture(scope="module")
def reference(variant: str, checkpoint_of: Callable[[str], Path]) -> object:
    return load_reference(checkpoint_of(variant))


def random_prompt(length: int = PROMPT_LENGTH) -> torch.Tensor:
    return torch.randint(3, 300, (length,), generator=torch.Generator().manual_seed(7))


@torch.no_grad()
def test_prefill_gives_the_logits_of_transformers(decoder: Decoder, reference: object) -> None:
    for length in (PROMPT_LENGTH, 200):
        prompt = random_prompt(length)
        ours = decoder.forward(prompt, torch.arange(length), prepared(decoder, length)).logits
        theirs = reference(prompt[None]).logits[0]
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


def prepared(decoder: Decoder, length: int) -> object:
    cache = decoder.new_cache(length)
    cache.begin(length)
    return cache


@torch.no_grad()
def test_prefill_in_pieces_gives_the_logits_of_one_piece(decoder: Decoder) -> None:
    prompt = random_prompt(200)
    cache = decoder.new_cache(200)
    cache.begin(200)
    rows = []
    for start, end in ((0, 1), (1, 90), (90, 91), (91, 107), (107, 200)):
        rows.append(decoder.forward(prompt[start:end], torch.arange(start, end), cache).logits)
        cache.commit(torch.arange(end - start))
    whole = decoder.forward(prompt, torch.arange(200), prepared(decoder, 200)).logits
    torch.testing.assert_close(torch.cat(rows), whole, atol=1e-4, rtol=1e-4)


def test_greedy_text_is_that_of_transformers(decoder: Decoder, reference: object) -> None:
    prompt = random_prompt()
    theirs = reference.generate(
        prompt[None],
        attention_mask=torch.ones(1, PROMPT_LENGTH, dtype=torch.long),
        do_sample=False,
        min_new_tokens=TOKENS,
        max_new_tokens=TOKENS,
        eos_token_id=None,
    )[0, PROMPT_LENGTH:]
    assert greedy(decoder, prompt, TOKENS) == theirs.tolist()
