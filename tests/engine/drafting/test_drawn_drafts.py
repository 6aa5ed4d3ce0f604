"""Drafters that draw: from their own distributions, and what is emitted follows the target's."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.drafting.draft_model import DraftModel, DraftModelDrafter
from engine.drafting.kind import Pacing
from engine.drafting.paced_tree import PacedTree
from engine.drafting.trees import DraftSampling, TreeShape
from engine.model.decoder import Decoder
from engine.model.sampling import Sampler, draw, uniform
from engine.model.token_tree import ROOT, Draft, DraftShape
from engine.placement.device import Link
from engine.verifying.residual_sampling import ResidualSampling
from tests.support.checkpoints import write_checkpoint
from tests.support.decoders import load_decoder

VOCABULARY = 6
PROMPT = [1, 2, 3, 4, 5, 3, 2]
SHAPE = TreeShape(3, 2, 6)


def path(draft: Draft, node: int) -> tuple[int, ...]:
    return () if node == ROOT else (*path(draft, draft.parents[node]), draft.tokens[node])


def rows_of(decoder: Decoder, vocabulary: int = VOCABULARY) -> Callable[[tuple[int, ...]], Tensor]:
    """(V,) logits after the prompt and a path, each from a cache of its own."""

    @cache
    def row(after: tuple[int, ...]) -> Tensor:
        tokens = torch.tensor([*PROMPT, *after])
        cached = decoder.new_cache(32)
        output = decoder.forward(tokens, torch.arange(len(tokens)), cache=cached, logit_rows=slice(-1, None))
        return output.logits[0, :vocabulary] * 4  # random models are nearly undecided

    return row


@pytest.fixture(scope="module")
def draft_decoder(tmp_path_factory: pytest.TempPathFactory) -> Decoder:
    return load_decoder(
        write_checkpoint(tmp_path_factory.mktemp("small") / "draft", "llama", seed=5, num_hidden_layers=1)
    )


def after_prompt(decoder: Decoder, vocabulary: int = VOCABULARY) -> DraftModel:
    model = DraftModel(decoder, vocabulary, 64, Link(torch.device("cpu")), lambda: None)
    model.reset(PROMPT)
    return model


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("sampler", [Sampler(0.7, 4, 0.9, 0.01, 1.3, seed=3), Sampler(1.0, seed=4)])
def test_what_was_drawn_is_said_to_be_drawn_from_the_draft(
    sampler: Sampler, replacement: bool, draft_decoder: Decoder
) -> None:
    drafter = DraftModelDrafter(after_prompt(draft_decoder), SHAPE, DraftSampling(sampler, replacement))
    row = rows_of(draft_decoder)
    draft = drafter.propose(DraftShape(6))
    assert draft.proposal is not None
    assert draft.proposal.replacement == replacement
    asked = [node for node in range(ROOT, len(draft)) if draft.proposal.draws[node + 1]]
    assert len(asked) > 1
    for node in asked:
        found = draft.proposal.distributions[node + 1]
        own = (row(path(draft, node)) / 4).log_softmax(-1)
        expected = sampler.distribution(own, [*PROMPT, *path(draft, node)])
        assert found is not None
        torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-4)


def test_a_target_with_more_padding_gets_distributions_over_its_vocabulary(draft_decoder: Decoder) -> None:
    own = draft_decoder.config.vocabulary_size
    model = after_prompt(draft_decoder, own + 8)
    drafter = DraftModelDrafter(model, SHAPE, DraftSampling(Sampler(1.0, seed=1), False))
    draft = drafter.propose(DraftShape(4))
    assert draft.proposal is not None
    first = draft.proposal.distributions[0]
    assert first is not None
    assert first.shape == (own + 8,)
    assert first[own:].sum() == 0.0
    assert first.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("rounds", [1500, pytest.param(20_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["with replacement", "without replacement", "paced"])
def test_what_is_emitted_follows_the_target(
    kind: str, rounds: int, llama_folder: Path, draft_decoder: Decoder
) -> None:
    """Pairs of tokens after one prompt, over many seeds: the real drafter, the real rule, one small vocabulary.

    A paced tree is LLMCad's, which is never drawn.
    """
    target = rows_of(load_decoder(llama_folder))
    model = after_prompt(draft_decoder)
    pairs: Counter[tuple[int, ...]] = Counter()
    accepted = 0
    for seed in range(rounds):
        sampler = Sampler(1.0, seed=seed)
        if kind == "paced":
            draft = PacedTree(model, Pacing()).propose(DraftShape(6))
        else:
            draft = DraftModelDrafter(
                model, SHAPE, DraftSampling(sampler, kind == "with replacement")
            ).propose(DraftShape(6))
        assert (draft.proposal is None) == (kind == "paced")
        rows = torch.stack([target(path(draft, node)) for node in range(ROOT, len(draft))])
        verdict = ResidualSampling(sampler).verify(draft, rows, len(PROMPT), PROMPT)
        accepted += len(verdict.nodes)
        tokens = verdict.tokens
        if len(tokens) == 1:
            tokens = (*tokens, draw(sampler.distribution(target(tokens)), uniform(seed, 99)))
        pairs[tokens[:2]] += 1
    assert accepted > rounds / 2
    sampler = Sampler(1.0)
    distance = by_chance = 0.0
    for one, two in itertools.product(range(VOCABULARY), repeat=2):
        expected = float(sampler.distribution(target(()))[one] * sampler.distribution(target((one,)))[two])
        distance += abs(pairs[one, two] / rounds - expected) / 2
        # The mean deviation of a frequency that is right.
        by_chance += math.sqrt(2 * expected * (1 - expected) / (math.pi * rounds)) / 2
    assert distance < 2 * by_chance
