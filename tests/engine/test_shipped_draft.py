"""The drafts that ship for the bundled model: small, worth their while, and without a word in the reply."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypeAlias

import pytest
import torch

from engine.cli import main
from engine.decoding.sequence import Target, TokenSequence
from engine.drafting.drafter import NoDrafter
from engine.drafting.eagle import FeatureDraft
from engine.drafting.head_loader import load_feature_network, share
from engine.drafting.kinds import kind_of
from engine.drafting.medusa import MedusaDraft, MedusaDrafter, load_medusa
from engine.drafting.prompt_tokens import PromptTokenDraft, PromptTokenDrafter, load_prompt_tokens
from engine.drafting.trees import DEEPEST, TreeShape
from engine.hub.bundled import assets_folder, bundled_model, paired_drafts
from engine.messages import DEFAULT_MODEL, ChatMessage
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.packed_loader import load_packed
from engine.model.sampling import Sampler
from engine.model.weight_format import stored_format, weight_format
from engine.model_file import OpenedModel
from engine.modes import MODES
from engine.placement.device import Link
from engine.placement.resident import Resident
from engine.text.tokenizer import Tokenizer
from engine.weights.checkpoint import Checkpoint
from engine.weights.head_checkpoint import HeadCheckpoint
from tests.support.fast_cases import chosen
from tests.support.real_models import ABSENT, real_model
from tests.support.replies import run_reply

DRAFT = assets_folder() / "models" / f"{DEFAULT_MODEL}-draft"
HEADS = assets_folder() / "models" / f"{DEFAULT_MODEL}-medusa"
PROMPT_TOKENS = assets_folder() / "models" / f"{DEFAULT_MODEL}-prompt-tokens"
REQUESTS = (
    "Write a short story about a lighthouse keeper who finds a bottle with a map.",
    "Write a Python function that checks whether a word is a palindrome.",
)
TOKENS = 48
SAMPLERS = (
    Sampler(),
    Sampler(temperature=0.8, top_k=40, top_p=0.95, min_p=0.05, repetition_penalty=1.1, seed=5),
)

Replies: TypeAlias = Callable[[str, Sampler], tuple[list[int], list[int]]]


@pytest.mark.parametrize("folder", [DRAFT, HEADS, PROMPT_TOKENS], ids=lambda folder: folder.name)
def test_it_is_a_few_megabytes_with_a_page_about_it_and_of_the_kind_that_modes_are_told(folder: Path) -> None:
    assert sum(path.stat().st_size for path in folder.iterdir()) < 15e6
    assert (folder / "README.md").is_file()
    shipped = bundled_model(folder.name)
    assert kind_of(OpenedModel("draft", folder)).kind == shipped.kind


def test_it_is_taken_where_a_mode_needs_a_draft() -> None:
    if real_model() is None:
        pytest.skip(ABSENT)
    assert paired_drafts(DEFAULT_MODEL, MODES["dovetail"].drafts) == (DRAFT.name,)
    assert paired_drafts(DEFAULT_MODEL, MODES["ghidorah"].drafts) == (HEADS.name,)
    assert paired_drafts(DEFAULT_MODEL, MODES["llmcad"].drafts) == (HEADS.name,)
    assert paired_drafts(DEFAULT_MODEL, MODES["ppd"].drafts) == (PROMPT_TOKENS.name,)


@pytest.fixture(scope="module")
def model() -> Path:
    found = real_model()
    if found is None:
        pytest.skip(ABSENT)
    return found


@pytest.fixture(scope="module")
def decoder(model: Path) -> Decoder:
    checkpoint = Checkpoint(model)
    config = read_config(checkpoint)
    return Decoder(config, Resident(load_packed(checkpoint, config, stored_format(config))))


@pytest.fixture(scope="module")
def plain(model: Path, decoder: Decoder) -> Replies:
    """The prompt of a request, and what a sampler says to it without a draft."""
    tokenizer = Tokenizer(model)

    @cache
    def answered(request: str, sampler: Sampler) -> tuple[list[int], list[int]]:
        prompt = tokenizer.render([ChatMessage("user", request)])
        reply, _ = run_reply(TokenSequence(Target(decoder), 256), NoDrafter(), prompt, TOKENS, sampler=sampler)
        return prompt, reply

    return answered


@pytest.mark.parametrize("sampler", chosen(SAMPLERS, SAMPLERS[:1]), ids=["greedy", "sampled"])
def test_replies_with_it_are_plain_ones_token_for_token_and_take_fewer_forwards(
    plain: Replies, decoder: Decoder, sampler: Sampler
) -> None:
    network = load_feature_network(HeadCheckpoint(DRAFT), decoder.config, share(decoder.source), weight_format("q4_1"))
    lengths = []
    for request in REQUESTS:
        prompt, expected = plain(request, sampler)
        for shape in (TreeShape(1, 3, 3), TreeShape(4, 4, 8)):
            drafter = FeatureDraft(network, shape, 256, Link(torch.device("cpu")), lambda: None)
            drafted, timings = run_reply(
                TokenSequence(Target(decoder), 256), drafter, prompt, TOKENS, shape.nodes, sampler=sampler
            )
            assert drafted == expected
            lengths.append(timings.mean_acceptance_length or 0.0)
    assert sum(lengths) / len(lengths) > 1.3


@pytest.mark.slow
@pytest.mark.parametrize("sampler", chosen(SAMPLERS, SAMPLERS[:1]), ids=["greedy", "sampled"])
def test_replies_with_the_heads_are_plain_ones_and_take_fewer_forwards(
    plain: Replies, decoder: Decoder, sampler: Sampler
) -> None:
    config, link = decoder.config, Link(torch.device("cpu"))
    heads = MedusaDraft.read(OpenedModel(HEADS.name, HEADS), config)
    assert heads.beside is not None
    network = load_medusa(
        HeadCheckpoint(HEADS),
        decoder.source.head,
        decoder.source.dtype,
        None,
        weight_format("q4_1"),
        link.device,
    )
    lengths = []
    for request in REQUESTS:
        prompt, expected = plain(request, sampler)
        for follows, nodes in ((True, 7), (False, 15)):
            calibration = replace(heads.beside, follows=follows)
            drafter = MedusaDrafter(network, config.layers, calibration)
            drafter.limits = TreeShape(10, DEEPEST, nodes, searched=True)
            drafted, timings = run_reply(
                TokenSequence(Target(decoder), 256), drafter, prompt, TOKENS, nodes, sampler=sampler
            )
            assert drafted == expected
            lengths.append(timings.mean_acceptance_length or 0.0)
    assert sum(lengths) / len(lengths) > 1.2


@pytest.mark.slow
@pytest.mark.parametrize("sampler", chosen(SAMPLERS, SAMPLERS[:1]), ids=["greedy", "sampled"])
def test_replies_with_the_prompt_tokens_are_plain_ones_and_take_fewer_forwards(
    plain: Replies, model: Path, decoder: Decoder, sampler: Sampler
) -> None:
    config = decoder.config
    draft = PromptTokenDraft.read(OpenedModel(PROMPT_TOKENS.name, PROMPT_TOKENS), config)
    draft.check(OpenedModel("model", model))
    assert draft.beside is not None
    tokens = load_prompt_tokens(HeadCheckpoint(PROMPT_TOKENS))
    lengths = []
    for request in REQUESTS:
        prompt, expected = plain(request, sampler)
        for follows, rows in ((True, 31), (False, 15)):
            drafter = PromptTokenDrafter(tokens, draft.beside)
            drafter.limits = TreeShape(10, DEEPEST, rows, searched=follows)
            drafted, timings = run_reply(
                TokenSequence(Target(decoder), 256), drafter, prompt, TOKENS, rows, sampler=sampler
            )
            assert drafted == expected
            lengths.append(timings.mean_acceptance_length or 0.0)
    assert sum(lengths) / len(lengths) > 1.1


@pytest.mark.parametrize(("mode", "draft"), [("ghidorah", HEADS), ("ppd", PROMPT_TOKENS)])
def test_it_runs_with_nothing_else_given(
    mode: str, draft: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if paired_drafts(DEFAULT_MODEL, MODES[mode].drafts) == ():
        pytest.skip(ABSENT)
    assert main(["ask", "--mode", mode, "--temperature", "0", "--max-tokens", "24", "--json", "Hello"]) == 0
    reply = json.loads(capsys.readouterr().out)
    assert (reply["mode"], reply["drafts"]) == (mode, [draft.name])
