"""Greedy float32 replies equal transformers' token for token, for each family, in each mode."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from engine.kernels import library
from engine.messages import ModelLoaded
from tests.support.checkpoints import VARIANTS, write_checkpoint
from tests.support.decoders import load_reference, reference_greedy
from tests.support.engine_client import EngineClient
from tests.support.fast_cases import chosen

PROMPTS = (
    "a",
    "The model that guesses and the model that checks",
    "one two three four one two three four one two " * 3,
)
MODES = ("plain", "lookup")


# `test_decoder_families` tries a family of each kind of layer in each run.
@pytest.mark.parametrize("variant", chosen(sorted(VARIANTS), ("gemma4-inputs", "gpt-oss", "lfm2", "qwen35")))
def test_greedy_tokens_are_those_of_transformers(
    variant: str, client: EngineClient, checkpoint_of: Callable[[str], Path]
) -> None:
    folder = checkpoint_of(variant)
    reference = load_reference(folder)
    for prompt in PROMPTS:
        replies = {mode: client.answer(prompt, folder, mode=mode, weights="fp32", max_tokens=64) for mode in MODES}
        expected = reference_greedy(reference, replies["plain"].prompt_ids, 64)
        for mode, reply in replies.items():
            assert list(reply.token_ids) == expected, (mode, prompt)


def test_sharded_and_bfloat16_checkpoints(client: EngineClient, tmp_path: Path) -> None:
    single = write_checkpoint(tmp_path / "single", "llama", seed=3)
    sharded = write_checkpoint(tmp_path / "sharded", "llama", seed=3, shard_bytes=60_000)
    assert len(list(sharded.glob("*.safetensors"))) > 1
    tokens = [client.answer(PROMPTS[1], folder, max_tokens=32).token_ids for folder in (single, sharded)]
    assert tokens[0] == tokens[1]
    half = write_checkpoint(tmp_path / "half", "llama", seed=3, dtype=torch.bfloat16)
    reply = client.answer(PROMPTS[1], half, weights="fp32", max_tokens=32)
    assert list(reply.token_ids) == reference_greedy(load_reference(half), reply.prompt_ids, 32)


@pytest.mark.parametrize("kernels", [True, False])
def test_bfloat16_weights_run_and_differ_only_where_logits_are_close(
    kernels: bool, client: EngineClient, llama_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pitfall 4 of the fifteen: at the first mismatch the gap of the two best logits is small."""
    if not kernels:
        monkeypatch.setattr(library, "_load", lambda: library._Loaded(None, "there is none."))
    exact = client.answer(PROMPTS[1], llama_folder, weights="fp32", max_tokens=48)
    rounded = client.answer(PROMPTS[1], llama_folder, weights="bf16", max_tokens=48)
    assert rounded.weights == "bf16"
    pairs = zip(exact.token_ids, rounded.token_ids, strict=False)
    first = next((at for at, (left, right) in enumerate(pairs) if left != right), None)
    if first is not None:
        prefix = torch.tensor([[*exact.prompt_ids, *exact.token_ids[:first]]])
        best = load_reference(llama_folder)(prefix).logits[0, -1].detach().topk(2).values
        assert float(best[0] - best[1]) < 0.1


@pytest.mark.parametrize("variant", ["llama", "gemma3"])
def test_a_seed_gives_one_text_whatever_the_mode(
    variant: str, client: EngineClient, checkpoint_of: Callable[[str], Path]
) -> None:
    folder = checkpoint_of(variant)
    for seed in range(5):
        settings = {"temperature": 0.9, "top_p": 0.95, "top_k": 40, "repetition_penalty": 1.1, "seed": seed}
        texts = {
            mode: client.answer(PROMPTS[2], folder, mode=mode, weights="fp32", max_tokens=48, **settings).token_ids
            for mode in MODES
        }
        assert texts["plain"] == texts["lookup"]


def test_keys_and_values_in_8_bits_serve_every_mode(client: EngineClient, tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "wide", "llama", seed=3, head_dim=32)
    for settings in ({"temperature": 0.0}, {"temperature": 0.9, "seed": 5}):
        texts = {
            mode: client.answer(
                PROMPTS[2], folder, mode=mode, weights="q8_0", kv_cache="q8_0", max_tokens=48, **settings
            ).token_ids
            for mode in MODES
        }
        assert texts["plain"] == texts["lookup"]
    assert client.seen(ModelLoaded)[-1].report.kv_cache == ("full" if library.available() is None else "q8_0")


def test_other_seeds_give_other_texts_and_no_seed_a_fresh_one(client: EngineClient, llama_folder: Path) -> None:
    texts = {client.answer("a", llama_folder, temperature=1.0, seed=seed).text for seed in (1, 2, None, None)}
    assert len(texts) == 4


def test_lookup_saves_forwards_on_a_text_that_repeats(client: EngineClient, tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "repeating", "llama-tied", seed=3, num_hidden_layers=2)
    plain = client.answer(PROMPTS[2], folder, mode="plain", max_tokens=64)
    lookup = client.answer(PROMPTS[2], folder, mode="lookup", max_tokens=64)
    assert plain.timings.target_forwards == len(plain.token_ids) - 1
    assert plain.timings.draft_n == 0
    assert plain.timings.acceptance_rate is None
    assert lookup.timings.draft_n >= lookup.timings.draft_n_accepted > 0
    assert lookup.timings.target_forwards < plain.timings.target_forwards
    assert lookup.timings.mean_acceptance_length == (len(lookup.token_ids) - 1) / lookup.timings.target_forwards


def test_a_reply_that_repeats_itself_ends_at_the_same_token_in_every_mode(
    client: EngineClient, llama_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A penalty below 1 makes a random model say the same again and again, in words that are no prose."""
    monkeypatch.setattr("engine.text.repetition._LONG_TOKENS", 160)
    sampling = {"temperature": 0.0, "repetition_penalty": 0.1}
    replies = [client.answer("a", llama_folder, mode=mode, stop_loops=True, **sampling) for mode in ("plain", "lookup")]
    assert [reply.stop_reason for reply in replies] == ["loop", "loop"]
    assert replies[0].token_ids == replies[1].token_ids
    new = replies[0].new_characters
    assert new is not None
    assert 0 < new < len(replies[0].text) / 2
    on = client.answer("a", llama_folder, max_tokens=len(replies[0].token_ids) + 20, **sampling)
    assert (on.stop_reason, on.new_characters) == ("length", None)
    assert on.token_ids[: len(replies[0].token_ids)] == replies[0].token_ids
