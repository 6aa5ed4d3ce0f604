"""Each family against transformers: the same weights in float32 give the same logits and the same greedy text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.model.decoder import Decoder
from tests.support.checkpoints import VARIANTS, all_experts, write_checkpoint
from tests.support.decoders import greedy, load_decoder, load_reference, prefill
from tests.support.fast_cases import chosen, families

PROMPT_LENGTH = 60
TOKENS = 64


@pytest.fixture(params=sorted(VARIANTS), scope="module")
def variant(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def decoder(variant: str, checkpoint_of: Callable[[str], Path]) -> Decoder:
    return load_decoder(checkpoint_of(variant))


@pytest.fixture(scope="module")
def reference(variant: str, checkpoint_of: Callable[[str], Path]) -> Any:
    return load_reference(checkpoint_of(variant))


def random_prompt(length: int = PROMPT_LENGTH) -> torch.Tensor:
    return torch.randint(3, 300, (length,), generator=torch.Generator().manual_seed(7))


def generated(reference: Any, prompt: torch.Tensor) -> list[int]:
    """The greedy text of transformers."""
    tokens = reference.generate(
        prompt[None],
        attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
        do_sample=False,
        min_new_tokens=TOKENS,
        max_new_tokens=TOKENS,
        eos_token_id=None,
    )
    return list(tokens[0, len(prompt) :].tolist())


@torch.no_grad()
def test_prefill_gives_the_logits_of_transformers(decoder: Decoder, reference: Any) -> None:
    for length in (PROMPT_LENGTH, 200):
        prompt = random_prompt(length)
        ours = decoder.forward(prompt, torch.arange(length), prepared(decoder, length)).logits
        theirs = reference(prompt[None]).logits[0]
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


def prepared(decoder: Decoder, length: int) -> Any:
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
        cache.commit(range(end - start))
    whole = decoder.forward(prompt, torch.arange(200), prepared(decoder, 200)).logits
    torch.testing.assert_close(torch.cat(rows), whole, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("variant", families(VARIANTS), indirect=True)
def test_greedy_text_is_that_of_transformers(decoder: Decoder, reference: Any) -> None:
    prompt = random_prompt()
    assert greedy(decoder, prompt, TOKENS) == generated(reference, prompt)


@pytest.mark.parametrize(
    ("variant_name", "changes"),
    [("phi3", {"sliding_window": None}), ("phi3-longrope", {"tie_word_embeddings": True})],
    ids=["Phi-4", "Phi-4 mini"],
)
@torch.no_grad()
def test_phi_4_is_of_the_family_of_phi_3(variant_name: str, changes: dict[str, Any], tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path, variant_name, tokenizer=False, **changes)
    decoder, reference, prompt = load_decoder(folder), load_reference(folder), random_prompt()
    theirs = reference(prompt[None]).logits[0]
    ours = decoder.forward(prompt, torch.arange(len(prompt)), decoder.new_cache(len(prompt))).logits
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)
    assert greedy(decoder, prompt, TOKENS) == generated(reference, prompt)


@pytest.mark.parametrize("variant_name", chosen(["llama", "mistral-window", "gemma2", "gemma3"], ("llama", "gemma3")))
@torch.no_grad()
def test_long_prompts_give_the_logits_of_transformers(variant_name: str, tmp_path: Path) -> None:
    """Longer than the blocks in which attention is computed: whole blocks lie outside the window."""
    length = 1500
    folder = write_checkpoint(tmp_path, variant_name, tokenizer=False, max_position_embeddings=2048)
    decoder, prompt = load_decoder(folder), random_prompt(length)
    theirs = load_reference(folder)(prompt[None]).logits[0, -16:]
    whole = decoder.forward(prompt, torch.arange(length), decoder.new_cache(length)).logits[-16:]
    torch.testing.assert_close(whole, theirs, atol=1e-4, rtol=1e-4)
    cache = prefill(decoder, prompt[:900], length)
    decoder.forward(prompt[900:1484], torch.arange(900, 1484), cache)
    cache.commit(range(584))
    pieces = decoder.forward(prompt[1484:], torch.arange(1484, length), cache).logits
    torch.testing.assert_close(pieces, theirs, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("variant", families(VARIANTS), indirect=True)
@torch.no_grad()
def test_bf16_stays_close_to_transformers(decoder: Decoder, variant: str, checkpoint_of: Any, tmp_path: Path) -> None:
    prompt, folder = random_prompt(), checkpoint_of(variant)
    if all_experts(variant):
        folder = write_checkpoint(tmp_path, variant, tokenizer=False, **all_experts(variant))
        decoder = load_decoder(folder)
    exact = decoder.forward(prompt, torch.arange(len(prompt)), prepared(decoder, len(prompt))).logits
    ours_decoder = load_decoder(folder, torch.bfloat16)
    ours = ours_decoder.forward(prompt, torch.arange(len(prompt)), prepared(ours_decoder, len(prompt))).logits
    theirs = load_reference(folder, torch.bfloat16)(prompt[None]).logits[0].float()
    # Both round in many places: what counts is that Tenon does not stray further than transformers does.
    assert (ours - exact).std() <= 1.25 * (theirs - exact).std()
